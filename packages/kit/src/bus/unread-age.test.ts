import { expect, test } from 'vitest'
import { addReading, type PartitionEnds } from './unread-age.ts'

/** Adds readings `[time in seconds, end, committed]` and returns the last result. */
function read(...readings: readonly [atS: number, end: number, committed: number][]) {
  let ends: PartitionEnds = []
  let last: ReturnType<typeof addReading> | undefined
  for (const [atS, end, committed] of readings) {
    last = addReading(ends, { end: BigInt(end), committed: BigInt(committed), atMs: atS * 1000 })
    ends = last.ends
  }
  return { lag: Number(last?.lag), ageS: (last?.ageMs ?? 0) / 1000, readings: ends.length }
}

test.each([
  { name: 'nothing is unread', readings: [[0, 10, 10]], result: { lag: 0, ageS: 0 } },
  { name: 'messages were there at the first reading', readings: [[0, 10, 4]], result: { lag: 6, ageS: 0 } },
  {
    name: 'a consumer makes no progress',
    readings: [
      [0, 10, 4],
      [15, 12, 4],
      [30, 12, 4],
    ],
    result: { lag: 8, ageS: 30 },
  },
  {
    name: 'a consumer has read the messages of the first reading',
    readings: [
      [0, 10, 4],
      [15, 12, 10],
      [30, 14, 10],
    ],
    result: { lag: 4, ageS: 15 },
  },
  {
    name: 'a consumer caught up in between',
    readings: [
      [0, 10, 4],
      [15, 10, 10],
      [30, 11, 10],
    ],
    result: { lag: 1, ageS: 0 },
  },
  {
    name: 'the topic was created again',
    readings: [
      [0, 100, 90],
      [15, 3, 0],
    ],
    result: { lag: 3, ageS: 0 },
  },
] as const)('knows lag and age when $name', ({ readings, result }) => {
  expect(read(...readings.map(reading => [...reading] as [number, number, number]))).toMatchObject(result)
})

test('keeps few readings of a partition that nobody reads, and the age of its oldest message', () => {
  const { readings, ageS } = read(
    ...Array.from({ length: 5_000 }, (_, at): [number, number, number] => [at, at + 1, 0]),
  )
  expect(readings).toBeLessThanOrEqual(65)
  expect(ageS).toBe(4_999)
})
