import type { Stats } from '../../api/actions.ts'

/** The refunds of one currency, real or test. */
export interface MoneyRow {
  readonly currency: string
  readonly isTest: boolean
  readonly count: number
  readonly amount: number
  readonly unexplained: number
  /** Refunds that moved no money. They are not part of the other numbers. */
  readonly notCarriedOut: number
}

/** The refunded money by currency: test money last, then the currency of most refunds first. */
export function moneyRowsOf(totals: Stats['totals']): MoneyRow[] {
  const rows = new Map<string, MoneyRow>()
  for (const { kind, currency, mode, verdict, count, not_carried_out, amount } of totals) {
    if (kind !== 'refund' || currency === null) continue
    const isTest = mode === 'test'
    const key = `${currency} ${isTest}`
    const old = rows.get(key) ?? { currency, isTest, count: 0, amount: 0, unexplained: 0, notCarriedOut: 0 }
    rows.set(key, {
      ...old,
      count: old.count + count - not_carried_out,
      amount: old.amount + amount,
      unexplained: old.unexplained + (verdict === 'unexplained' ? amount : 0),
      notCarriedOut: old.notCarriedOut + not_carried_out,
    })
  }
  return [...rows.values()].toSorted((a, b) => Number(a.isTest) - Number(b.isTest) || b.count - a.count)
}
