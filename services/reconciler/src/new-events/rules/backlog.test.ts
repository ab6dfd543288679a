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
  { name: 'events in time', agesS: [0, 9, 29, 30], isThere: false },
  { name: 'one event older than 30 s', agesS: [0, 31], isThere: true },
  { name: 'the last events of a backlog', agesS: [31, 20, 11], isThere: true },
  { name: '14 s without an event of the backlog', agesS: [31, ...Array(14).fill(10)], isThere: true },
  { name: '15 s without an event of the backlog', agesS: [31, ...Array(15).fill(10)], isThere: false },
  { name: 'events of 20 s after a backlog', agesS: [31, ...Array(15).fill(10), 20], isThere: false },
])('$name: a backlog is $isThere', ({ agesS, isThere }) => {
  expect(after(...agesS) !== undefined).toBe(isThere)
})

test('a backlog of which nothing more is handled ends', () => {
  expect(endBacklog(NOW, NOW + 14_999)).toBe(NOW)
  expect(endBacklog(NOW, NOW + 15_000)).toBeUndefined()
})
