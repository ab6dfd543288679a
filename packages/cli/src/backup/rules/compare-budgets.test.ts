import { expect, test } from 'vitest'
import { compareBudgets, type ShareSum } from './compare-budgets.ts'

const share = (state: ShareSum['_id']['state'], amount: number, budget_id = 'bud_1'): ShareSum => ({
  _id: { budget_id, period_start: '2026-11-01', state },
  amount,
})
const period = (used: number, reserved: number) => ({ _id: 'bud_1/2026-11-01', used, reserved })

test.each([
  { name: 'equal amounts', periods: [period(30, 5)], sums: [share('spent', 30), share('reserved', 5)], faults: 0 },
  { name: 'released shares', periods: [period(30, 0)], sums: [share('spent', 30), share('released', 9)], faults: 0 },
  { name: 'a budget without operations', periods: [period(0, 0)], sums: [], faults: 0 },
  { name: 'a lost operation', periods: [period(30, 0)], sums: [], faults: 1 },
  { name: 'a lost reservation', periods: [period(30, 0)], sums: [share('spent', 30), share('reserved', 1)], faults: 1 },
  { name: 'a lost period', periods: [], sums: [share('spent', 1)], faults: 1 },
  { name: 'a period that only released shares name', periods: [], sums: [share('released', 1)], faults: 0 },
])('$name: $faults faults', ({ periods, sums, faults }) => {
  expect(compareBudgets(periods, sums, '2025-10-01')).toHaveLength(faults)
})

test('a period that was removed after its retention is not missing', () => {
  expect(compareBudgets([], [share('spent', 1)], '2026-11-02')).toEqual([])
})
