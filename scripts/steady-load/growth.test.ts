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
  const growth = growthOf(
    [],
    [0, 1, 2, 3].map(minute => sample(minute, 50_000_000 + minute * 200_000)),
  )
  expect(growth.usedBytesPer10Min).toBeCloseTo(2_000_000, 0)
  expect(growth.residentBytesPer10Min).toBeCloseTo(4_000_000, 0)
})

test('memory that goes up and down around the same value does not grow', () => {
  const growth = growthOf(
    [],
    [0, 1, 2, 3, 4].map(minute => sample(minute, 50_000_000 + (minute % 2) * 3_000_000)),
  )
  expect(growth.usedBytesPer10Min).toBeCloseTo(0, 0)
})

test('a series that appears after the warm-up is reported, and a series that was absent for a while is not', () => {
  const warmUp = [sample(0, 1, ['up', 'lag']), sample(1, 1, ['up'])]
  const growth = growthOf(warmUp, [sample(2, 1, ['up', 'lag']), sample(3, 1, ['up', 'new']), sample(4, 1, ['new'])])
  expect(growth.newSeries).toEqual(['new'])
})

test('a series is a line of the page without its value', () => {
  const page = '# TYPE sends counter\nsends{topic="a b"} 5\nsends{topic="c"} 1e+3\nup 1\n'
  expect([...seriesOf(page)]).toEqual(['sends{topic="a b"}', 'sends{topic="c"}', 'up'])
})
