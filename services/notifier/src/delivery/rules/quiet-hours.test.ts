import { expect, test } from 'vitest'
import { decideQuietHold, GATHER_MS } from './quiet-hours.ts'

const NIGHT = { time_zone: 'UTC', from: '22:00', to: '07:00', days: null }
const at = (time: string) => Date.parse(`2026-11-21T${time}Z`)
const SEVEN = at('07:00:00')

test.each([
  { name: 'during quiet hours', due: '03:00:00', now: '03:00:01', decision: { kind: 'hold', untilMs: SEVEN } },
  {
    name: 'after quiet hours, if it was due in them',
    due: '03:00:00',
    now: '07:00:02',
    decision: { kind: 'gather', group: `quiet ${SEVEN}`, notBeforeMs: SEVEN + GATHER_MS },
  },
  { name: 'after quiet hours, if it became due later', due: '07:00:00', now: '07:00:02', decision: { kind: 'free' } },
  { name: 'before quiet hours', due: '21:59:58', now: '21:59:59', decision: { kind: 'free' } },
])('a delivery $name', ({ due, now, decision }) => {
  expect(decideQuietHold(NIGHT, at(due), at(now))).toMatchObject(decision)
})

test('a channel without quiet hours holds nothing', () => {
  expect(decideQuietHold(null, at('03:00:00'), at('03:00:00')).kind).toBe('free')
})
