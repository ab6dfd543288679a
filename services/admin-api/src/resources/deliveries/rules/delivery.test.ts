import { describe, expect, test } from 'vitest'
import { judgeResend, judgeRetry, type ResendVerdict } from './delivery.ts'

const AT = new Date('2026-11-21T10:00:00.000Z')
const ON = { enabled: true }
const HEALTHY = { disabled_at: null }
const refused = (reason: Extract<ResendVerdict, { kind: 'refused' }>['reason']) => ({ kind: 'refused', reason })

describe('sending through a channel again', () => {
  const rows: { name: string; args: Parameters<typeof judgeResend>; verdict: unknown }[] = [
    { name: 'that works', args: [ON, HEALTHY], verdict: { kind: 'allowed' } },
    { name: 'that never sent anything', args: [ON, undefined], verdict: { kind: 'allowed' } },
    { name: 'that was deleted', args: [undefined, undefined], verdict: refused('channel_deleted') },
    { name: 'that is switched off', args: [{ enabled: false }, HEALTHY], verdict: refused('channel_switched_off') },
    { name: 'that its failures disabled', args: [ON, { disabled_at: AT }], verdict: refused('channel_disabled') },
  ]
  test.each(rows)('$name', ({ args, verdict }) => {
    expect(judgeResend(...args)).toEqual(verdict)
  })
})

describe('attempting a delivery now', () => {
  const rows: { name: string; args: Parameters<typeof judgeRetry>; verdict: unknown }[] = [
    { name: 'that is dead', args: [{ state: 'dead', test: false }, ON, HEALTHY], verdict: { kind: 'allowed' } },
    { name: 'that waits', args: [{ state: 'retrying', test: false }, ON, HEALTHY], verdict: { kind: 'allowed' } },
    { name: 'that just began', args: [{ state: 'pending', test: false }, ON, HEALTHY], verdict: { kind: 'allowed' } },
    { name: 'that arrived', args: [{ state: 'delivered', test: false }, ON, HEALTHY], verdict: refused('delivered') },
    {
      name: 'that another one told',
      args: [{ state: 'superseded', test: false }, ON, HEALTHY],
      verdict: refused('superseded'),
    },
    { name: 'that was a test', args: [{ state: 'dead', test: true }, ON, HEALTHY], verdict: refused('a_test') },
    {
      name: 'whose channel is gone',
      args: [{ state: 'dead', test: false }, undefined, undefined],
      verdict: refused('channel_deleted'),
    },
  ]
  test.each(rows)('$name', ({ args, verdict }) => {
    expect(judgeRetry(...args)).toEqual(verdict)
  })
})
