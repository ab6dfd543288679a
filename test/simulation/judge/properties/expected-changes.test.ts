import { expect, test } from 'vitest'
import type { Ground } from '../../actors/truth.ts'
import { action, deed, judged, MINUTE, rightRun, T0, withLists } from '../right-run.ts'

const DAY = 24 * 60 * MINUTE
const expected: Ground = { reason: 'expected', explains: false, begins: { fromMs: T0, toMs: T0 } }

/** Faults about a group of which an expected change covers one of each day, and of which the product explained some. */
function faultsOf(
  group: readonly { readonly atMs: number; readonly isExplained?: true; readonly grounds?: Ground[] }[],
) {
  const run = rightRun()
  const equal = group.map(({ atMs, grounds = [] }, index) =>
    deed(`re_${index}`, { atMs, grounds: [expected, ...grounds] }),
  )
  run.truth.capped.push({ deeds: equal, covered: 1, interval: 'day' })
  const verdicts = group.map(({ isExplained }) => (isExplained ? 'explained' : 'unexplained'))
  const listed = withLists(run, ({ actions }) => ({
    actions: [...actions, ...verdicts.map((verdict, index) => action(`re_${index}`, { verdict }))],
  }))
  return judged(listed).filter(fault => fault.startsWith('expected-changes'))
}

test('an expected change with an interval explains as many changes in each period as it states', () => {
  const both = [T0, T0 + DAY].map(atMs => ({ atMs, isExplained: true }) as const)
  expect(faultsOf(both)).toEqual([])
  expect(faultsOf([{ atMs: T0, isExplained: true }, { atMs: T0 + 1 }])).toEqual([
    expect.stringContaining('expected-changes-are-capped: Of 2 equal changes 1 were expected'),
  ])
  expect(faultsOf([both[0]!, { atMs: T0 + DAY }])).toEqual([
    expect.stringContaining('expected-changes-cover-what-they-state: Of 1 equal changes 1 were expected'),
  ])
})

test('an expected change may be used up by a change that something else may explain', () => {
  const other: Ground = { reason: 'this was us', explains: true, begins: { fromMs: T0 } }
  expect(faultsOf([{ atMs: T0, grounds: [other] }, { atMs: T0 }])).toEqual([])
})
