import { expect, test } from 'vitest'
import { growthOf, type Sample, seriesOf } from './growth.ts'

const MINUTE_MS = 60_000
const sample = (minute: number, usedBytes: number, series: readonly string[] = ['a']): Sample => ({
  atMs: minute * MINUTE_MS,
  usedBytes,
  residentBytes: usedBytes * 2,
  series: new Set(series),
})

test('memory that grows steadily is reported as bytes in ten minutes', () => {
  const growth = growthOf([0, 1, 2, 3].map(minute => sample(minute, 50_000_000 + minute * 200_000)))
  expect(growth.usedBytesPer10Min).toBeCloseTo(2_000_000, 0)
  expect(growth.residentBytesPer10Min).toBeCloseTo(4_000_000, 0)
})

test('memory that goes up and down around the same value does not grow', () => {
  const growth = growthOf([0, 1, 2, 3, 4].map(minute => sample(minute, 50_000_000 + (minute % 2) * 3_000_000)))
  expect(growth.usedBytesPer10Min).toBeCloseTo(0, 0)
})

test('a series that appears after the first sample is reported, and a series of both is not', () => {
  const growth = growthOf([sample(0, 1, ['up', 'sends{topic="a"}']), sample(1, 1, ['up', 'sends{topic="b"}'])])
  expect(growth.newSeries).toEqual(['sends{topic="b"}'])
})

test('a series is a line of the page without its value', () => {
  const page = '# TYPE sends counter\nsends{topic="a b"} 5\nsends{topic="c"} 1e+3\nup 1\n'
  expect([...seriesOf(page)]).toEqual(['sends{topic="a b"}', 'sends{topic="c"}', 'up'])
})
