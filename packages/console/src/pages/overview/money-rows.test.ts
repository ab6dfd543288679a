import { expect, test } from 'vitest'
import type { Stats } from '../../api/actions.ts'
import { moneyRowsOf } from './money-rows.ts'

type Total = Stats['totals'][number]
const total = (more: Partial<Total>): Total => ({
  ...{ verdict: 'explained', kind: 'refund', currency: 'eur', mode: 'live', count: 1, not_carried_out: 0, amount: 100 },
  ...more,
})
const row = { currency: 'eur', isTest: false, count: 1, amount: 100, unexplained: 0, notCarriedOut: 0 }

test('sums of refunds keep test money apart, and leave out refunds that failed and changes without money', () => {
  const rows = moneyRowsOf([
    total({ mode: 'test', count: 9, amount: 900 }),
    total({ mode: null }),
    total({ verdict: 'unexplained', count: 3, not_carried_out: 2, amount: 50 }),
    total({ currency: 'jpy', count: 5, amount: 500 }),
    total({ kind: 'cancellation', currency: null, amount: 0 }),
    total({ kind: 'dispute', amount: 7_000 }),
  ])
  expect(rows).toEqual([
    { ...row, currency: 'jpy', count: 5, amount: 500 },
    { ...row, count: 2, amount: 150, unexplained: 50, notCarriedOut: 2 },
    { ...row, isTest: true, count: 9, amount: 900 },
  ])
})
