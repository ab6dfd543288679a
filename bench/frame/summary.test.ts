import { expect, test } from 'vitest'
import type { Compared, JudgedTarget } from './compare.ts'
import { type BenchmarkResult, isAllMet, toSummary } from './summary.ts'

const target = (reached: number): JudgedTarget => {
  return { reading: 'rate', unit: '/s', of: 'ours', is: 'at least', value: 100, reached, isMet: reached >= 100 }
}
const result = (name: string, ...reached: number[]): BenchmarkResult => {
  const comparison: Compared = { name: `${name} alone`, readings: [], targets: reached.map(target) }
  return { name, comparisons: [comparison] }
}
const failed: BenchmarkResult = { name: 'broken', comparisons: undefined }

test('lists the targets of every benchmark, and counts those that are met', () => {
  expect(toSummary([result('fast', 200, 50), result('slow', 120)]).split('\n')).toEqual([
    'fast',
    '  fast alone',
    '    ✓ rate, ours: 200 /s, to be at least 100 /s',
    '    ✗ rate, ours: 50.0 /s, to be at least 100 /s',
    'slow',
    '  slow alone',
    '    ✓ rate, ours: 120 /s, to be at least 100 /s',
    '2 of 3 targets are met',
  ])
})

test('shows a benchmark that failed, whose targets are unknown', () => {
  expect(
    toSummary([result('fast', 200), failed])
      .split('\n')
      .slice(-3),
  ).toEqual(['broken', '  ✗ failed, see above', '1 of 1 targets are met; 1 benchmarks failed'])
})

test.each([
  { name: 'every target is met', result: result('fast', 200, 100), isMet: true },
  { name: 'a target is missed', result: result('fast', 200, 50), isMet: false },
  { name: 'the benchmark failed', result: failed, isMet: false },
])('all targets are met: $isMet if $name', ({ result, isMet }) => {
  expect(isAllMet(result)).toBe(isMet)
})
