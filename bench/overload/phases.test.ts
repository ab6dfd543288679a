import { expect, test } from 'vitest'
import { leastAcceptedInASecond, PhaseTally, recoveryMs, type Window } from './phases.ts'

const window = (changed: Partial<Window> = {}): Window => ({
  accepted: 100,
  notAccepted: 0,
  acceptedP99Ms: 10,
  ...changed,
})
const windows = (count: number, changed: Partial<Window> = {}) => Array.from({ length: count }, () => window(changed))
const before = [...windows(9), window({ acceptedP99Ms: 30 })]

test.each([
  { name: 'at once', after: windows(20), expected: 0 },
  {
    name: 'after the last refusal',
    after: [window({ notAccepted: 1 }), ...windows(3), window({ notAccepted: 1 }), ...windows(10)],
    expected: 500,
  },
  {
    name: 'after the last slow window',
    after: [window({ acceptedP99Ms: 31 }), ...windows(10, { acceptedP99Ms: 30 })],
    expected: 100,
  },
  { name: 'never', after: windows(9), expected: 900 },
])('the server has recovered: $name', ({ after, expected }) => {
  expect(recoveryMs(before, after)).toBe(expected)
})

test('answers count in the window in which their request was due', () => {
  const tally = new PhaseTally(200)
  tally.add('200', 99, 150)
  tally.add('503', 100, 2)
  tally.add('none', 199, 10_000)
  expect(tally.outcome()).toEqual({
    statuses: { 200: 1, 503: 1, none: 1 },
    waitedForSocket: 0,
    windows: [
      { accepted: 1, notAccepted: 0, acceptedP99Ms: 150 },
      { accepted: 0, notAccepted: 2, acceptedP99Ms: null },
    ],
    accepted: { p50Ms: 150, p99Ms: 150 },
    refused: { p50Ms: 2, p99Ms: 2 },
  })
})

test('the least accepted second shows a server that stops and starts again', () => {
  const second = (accepted: number) => windows(10, { accepted })
  expect(leastAcceptedInASecond([...second(50), ...second(3), ...second(70)])).toBe(30)
})
