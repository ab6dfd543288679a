import type { SuppressionDocument } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { type AddressReport, decideSuppression, SOFT_BOUNCE_WINDOW_MS } from './suppression.ts'

const OF = { projectId: 'prj_1', address: 'Ops@Example.com' }
const NOW = Date.parse('2026-11-21T10:00:00.000Z')
const DAY = 86_400_000
const bounce: AddressReport = { kind: 'soft_bounce', detail: '452 mailbox full' }

function applyReports(...steps: { report: AddressReport; atMs: number }[]) {
  let known: SuppressionDocument | null = null
  let reason = ''
  for (const { report, atMs } of steps) ({ next: known, reason } = decideSuppression(OF, known, report, atMs))
  return { known: known as SuppressionDocument | null, reason }
}
const bounces = (...times: number[]) => applyReports(...times.map(atMs => ({ report: bounce, atMs })))

describe('an address', () => {
  test.each(['unsubscribed', 'hard_bounce', 'complaint', 'manual'] as const)('is suppressed at once by %s', reason => {
    const { known } = applyReports({ report: { kind: 'suppress', reason, detail: 'why' }, atMs: NOW })
    expect(known).toEqual({
      _id: 'prj_1/ops@example.com',
      project_id: 'prj_1',
      address: 'ops@example.com',
      reason,
      detail: 'why',
      soft_bounces: [],
      suppressed_at: new Date(NOW),
      updated_at: new Date(NOW),
    })
  })

  test('keeps the reason that suppressed it first', () => {
    const { known, reason } = applyReports(
      { report: { kind: 'suppress', reason: 'complaint', detail: null }, atMs: NOW },
      { report: { kind: 'suppress', reason: 'manual', detail: null }, atMs: NOW + 1 },
      { report: bounce, atMs: NOW + 2 },
    )
    expect(known).toMatchObject({ reason: 'complaint', suppressed_at: new Date(NOW) })
    expect(reason).toBe('suppressed_before')
  })

  test('that is allowed again begins anew', () => {
    const steps = [0, 1, 2, 3].map(day => ({ report: bounce, atMs: NOW + day }))
    const { known } = applyReports(
      ...steps,
      { report: { kind: 'unsuppress' }, atMs: NOW + 5 },
      { report: bounce, atMs: NOW + 6 },
    )
    expect(known).toMatchObject({ reason: null, soft_bounces: [new Date(NOW + 6)] })
  })

  test.each([
    { name: 'four soft bounces', times: [0, 1, 2, 3], reason: 'bounce_counted', suppressed: false },
    { name: 'five within seven days', times: [0, 1, 2, 3, 6.9], reason: 'too_many_bounces', suppressed: true },
    { name: 'five of which the first is older', times: [0, 1, 2, 3, 7], reason: 'bounce_counted', suppressed: false },
    { name: 'one report told five times', times: [0, 0, 0, 0, 0], reason: 'bounce_known', suppressed: false },
    { name: 'five told out of order', times: [4, 3, 2, 1, 0], reason: 'too_many_bounces', suppressed: true },
  ])('after $name: $reason', ({ times, reason, suppressed }) => {
    const { known, reason: actual } = bounces(...times.map(day => NOW + day * DAY))
    expect(actual).toBe(reason)
    expect(known?.reason).toBe(suppressed ? 'soft_bounces' : null)
    expect(known?.suppressed_at === null).toBe(!suppressed)
  })

  test('remembers bounces no longer than they count', () => {
    expect(bounces(NOW, NOW + SOFT_BOUNCE_WINDOW_MS).known?.soft_bounces).toHaveLength(1)
  })
})
