import { expect, test } from 'vitest'
import { type LogBudget, takeLine } from './log-budget.ts'

/** Takes a line at each time. @returns for each line, the number of unwritten lines that it states, or null if it is skipped */
function takeAt(timesMs: readonly number[], linesPerSecond: number): (number | null)[] {
  let budget: LogBudget | undefined
  return timesMs.map(nowMs => {
    const verdict = takeLine(budget, linesPerSecond, nowMs)
    budget = verdict.budget
    return verdict.kind === 'write' ? verdict.unwritten : null
  })
}

test.each([
  { name: 'all lines within the limit are written', timesMs: [0, 1, 2, 1_000, 1_001], written: [0, 0, 0, 0, 0] },
  { name: 'the first lines of a second are written', timesMs: [0, 1, 2, 3, 999], written: [0, 0, 0, null, null] },
  {
    name: 'the first line of the next second states how many were not written',
    timesMs: [0, 1, 2, 3, 4, 1_000, 1_001],
    written: [0, 0, 0, null, null, 2, 0],
  },
  {
    name: 'a clock that was set back starts a new second',
    timesMs: [9_000, 9_001, 9_002, 9_003, 5_000],
    written: [0, 0, 0, null, 1],
  },
])('$name', ({ timesMs, written }) => {
  expect(takeAt(timesMs, 3)).toEqual(written)
})
