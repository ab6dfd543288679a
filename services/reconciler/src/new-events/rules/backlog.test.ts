import { expect, test } from 'vitest'
import { type Backlog, endBacklog, noteHandled } from './backlog.ts'

const NOW = 1_000_000

/** The backlog after events of these ages, in seconds, one each second. */
function after(...agesS: number[]): Backlog {
  return agesS.reduce<Backlog>(
    (backlog, ageS, index) => noteHandled(endBacklog(backlog, NOW + index * 1_000), ageS * 1_000, NOW + index * 1_000),
    undefined,
  )
}

test.each([
  { name: 'events in time', agesS: [0, 9, 29, 30], isExpected: false },
  { name: 'one event older than 30 s', agesS: [0, 31], isExpected: true },
  { name: 'the last events of a backlog', agesS: [31, 20, 11], isExpected: true },
  { name: '14 s without an event of the backlog', agesS: [31, ...Array(14).fill(10)], isExpected: true },
  { name: '15 s without an event of the backlog', agesS: [31, ...Array(15).fill(10)], isExpected: false },
  { name: 'events of 20 s after a backlog', agesS: [31, ...Array(15).fill(10), 20], isExpected: false },
])('has a backlog after $name: $isExpected', ({ agesS, isExpected }) => {
  expect(after(...agesS) !== undefined).toBe(isExpected)
})

test('a backlog of which nothing more is handled ends', () => {
  expect(endBacklog(NOW, NOW + 14_999)).toBe(NOW)
  expect(endBacklog(NOW, NOW + 15_000)).toBeUndefined()
})
