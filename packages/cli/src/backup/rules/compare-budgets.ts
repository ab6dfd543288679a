import type { BudgetPeriodDocument, BudgetShare } from '@backstop/contracts'

/** The sum of the shares of all operations in one period of a budget, in one state. */
export interface ShareSum {
  readonly _id: { readonly budget_id: string; readonly period_start: string; readonly state: BudgetShare['state'] }
  readonly amount: number
}

export type PeriodAmounts = Pick<BudgetPeriodDocument, '_id' | 'used' | 'reserved'>

/**
 * The periods whose stored amounts differ from those of their operations. A released share counts nothing.
 * @param keptFrom the day, as YYYY-MM-DD, before which periods may have been removed while their operations stay
 */
export function compareBudgets(
  periods: readonly PeriodAmounts[],
  sums: readonly ShareSum[],
  keptFrom: string,
): string[] {
  const counted = new Map<string, { used: number; reserved: number }>()
  const isOld = new Set<string>()
  for (const { _id, amount } of sums) {
    if (_id.state === 'released') continue
    const key = `${_id.budget_id}/${_id.period_start}`
    if (_id.period_start < keptFrom) isOld.add(key)
    const known = counted.get(key) ?? { used: 0, reserved: 0 }
    const field = _id.state === 'spent' ? 'used' : 'reserved'
    counted.set(key, { ...known, [field]: known[field] + amount })
  }
  const stored = new Set(periods.map(({ _id }) => _id))
  const differing = periods.flatMap(({ _id, used, reserved }) => {
    const { used: wantedUsed, reserved: wantedReserved } = counted.get(_id) ?? { used: 0, reserved: 0 }
    if (used === wantedUsed && reserved === wantedReserved) return []
    const shown = `used ${used} and reserved ${reserved}`
    return [`budget period ${_id} has ${shown}; its operations have used ${wantedUsed} and reserved ${wantedReserved}`]
  })
  const missing = [...counted].flatMap(([key, { used, reserved }]) =>
    stored.has(key) || isOld.has(key) || used + reserved === 0
      ? []
      : [`budget period ${key} is missing; its operations use it`],
  )
  return [...differing, ...missing]
}
