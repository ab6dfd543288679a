import {
  type Budget,
  type BudgetShare,
  type BudgetUsage,
  CAP_PERCENTS,
  hasExecuted,
  isoTime,
  type Operation,
  type OperationState,
  type Period,
  periodOf,
} from '@backstop/contracts'

/** The spent and reserved amounts of one budget in one period. */
export interface PeriodAccount extends Period {
  /** `<budget_id>/<firstDay>` */
  readonly id: string
  readonly budgetId: string
  readonly projectId: string
  readonly used: number
  readonly reserved: number
  /** The shares of the cap, in percent, that were alerted. */
  readonly alertedPercents: readonly number[]
}

/** How an operation in that state counts in a budget. */
function budgetUseOf(state: OperationState): 'nothing' | 'reserved' | 'spent' {
  switch (state) {
    case 'requested':
    case 'approval_pending':
    case 'approved':
    case 'executing':
    case 'awaiting_review':
      return 'reserved'
    case 'completed':
      return 'spent'
    case 'declined':
    case 'expired':
    case 'failed':
    case 'rejected':
      return 'nothing'
    default:
      return state satisfies never
  }
}

/** A change of one budget's amounts in one period, in minor units. */
export interface BudgetMove {
  readonly accountId: string
  /** The amount to add; negative to release. */
  readonly reserved: number
  readonly used: number
  /** Set if the operation takes more than before. `account` is used if the period has no account yet. */
  readonly takes: { readonly budget: Budget; readonly account: PeriodAccount; readonly mustFit: boolean } | null
}

/** An operation with its shares of budgets, and the resulting changes of accounts in the order of their ids. */
export interface OperationWithShares {
  readonly operation: Operation
  readonly moves: readonly BudgetMove[]
}

/** The result of taking shares for an operation. */
export type ShareAllocation =
  | ({ readonly kind: 'shared' } & OperationWithShares)
  /** The operation leaves out the amount or currency that the budget counts. */
  | { readonly kind: 'uncountable'; readonly budget: Budget }

/** True if an operation that moves to `next` takes new shares of budgets. */
export function needsNewShares(before: Operation | undefined, next: OperationState): boolean {
  return budgetUseOf(next) !== 'nothing' && (before === undefined || budgetUseOf(before.state) === 'nothing')
}

/**
 * Takes shares of budgets for an operation that has none. A request must fit; an operation that has executed is counted
 * even if it does not fit.
 * @param budgets all budgets of its project
 */
export function allocateShares(operation: Operation, budgets: readonly Budget[], now: number): ShareAllocation {
  const hold = budgetUseOf(operation.state)
  const { amount, currency, connection_id } = operation
  const inScope = budgets.filter(budget => budget.connection_id === null || budget.connection_id === connection_id)
  const mustFit = !hasExecuted(operation.state)
  if (amount === null || currency === null) {
    const counts = inScope.find(budget => currency === null || budget.currency === currency)
    const isEvasive = operation.kind === 'refund' && mustFit && counts !== undefined
    return isEvasive ? { kind: 'uncountable', budget: counts } : { kind: 'shared', operation, moves: [] }
  }
  const applying = inScope.filter(budget => budget.currency === currency && amount > 0 && hold !== 'nothing')
  const parts = applying.map(budget => {
    const period = periodOf(budget.interval, now)
    const share = { budget_id: budget.budget_id, period_start: period.firstDay, amount, state: hold } as BudgetShare
    const account = emptyAccount(budget, period)
    const [reserved, used] = hold === 'spent' ? [0, amount] : [amount, 0]
    return { share, move: { accountId: account.id, reserved, used, takes: { budget, account, mustFit } } }
  })
  const shares = parts.map(({ share }) => share)
  return {
    kind: 'shared',
    operation: { ...operation, budgets: shares },
    moves: sortByAccount(parts.map(part => part.move)),
  }
}

/** Keeps, spends or releases the shares of an operation whose state changes. */
export function updateShares(before: Operation, next: Operation): OperationWithShares {
  const hold = budgetUseOf(next.state)
  if (hold === budgetUseOf(before.state)) return { operation: next, moves: [] }
  const moves: BudgetMove[] = []
  const shares = (before.budgets ?? []).map((share): BudgetShare => {
    if (share.state !== 'reserved') return share
    const { budget_id, period_start, amount } = share
    const used = hold === 'spent' ? amount : 0
    // A share belongs to the period in which it was reserved, which may not be the present one.
    moves.push({ accountId: accountIdOf(budget_id, period_start), reserved: -amount, used, takes: null })
    return { ...share, state: hold === 'spent' ? 'spent' : 'released' }
  })
  return { operation: { ...next, budgets: shares }, moves: sortByAccount(moves) }
}

/** One order for all operations, so that two operations on the same budgets conflict on the first account. */
function sortByAccount(moves: BudgetMove[]): BudgetMove[] {
  return moves.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1))
}

/** The id of a budget's account in the period with that first day. */
export function accountIdOf(budgetId: string, firstDay: string): string {
  return `${budgetId}/${firstDay}`
}

/** A share of the cap that was reached for the first time in its period. */
export interface ReachedCap {
  readonly budget: Budget
  readonly account: PeriodAccount
  /** The highest of CAP_PERCENTS that was reached: if several are reached at once, only this one is alerted. */
  readonly percent: number
}

/** The result of applying budget changes. */
export type MovesResult =
  | { readonly kind: 'booked'; readonly accounts: readonly PeriodAccount[]; readonly reached: readonly ReachedCap[] }
  /** Of all exceeded budgets, the one with the least left. */
  | { readonly kind: 'exceeded'; readonly budget: Budget; readonly account: PeriodAccount }

/** Applies all budget changes of one operation, or none. @param accounts the stored accounts */
export function applyMoves(moves: readonly BudgetMove[], accounts: ReadonlyMap<string, PeriodAccount>): MovesResult {
  const refused: { budget: Budget; account: PeriodAccount }[] = []
  const reached: ReachedCap[] = []
  const booked = moves.flatMap(({ accountId, used, reserved, takes }) => {
    const before = accounts.get(accountId) ?? takes?.account
    // The account was already removed, because its retention had ended.
    if (before === undefined) return []
    const after = { ...before, used: before.used + used, reserved: before.reserved + reserved }
    if (takes === null) return after
    if (takes.mustFit && usedAndReserved(after) > takes.budget.cap)
      refused.push({ budget: takes.budget, account: before })
    const percents = CAP_PERCENTS.filter(percent => usedAndReserved(after) >= (takes.budget.cap * percent) / 100)
    const percent = percents.at(-1)
    if (percent === undefined || before.alertedPercents.some(alerted => alerted >= percent)) return after
    const account = { ...after, alertedPercents: percents }
    reached.push({ budget: takes.budget, account, percent })
    return account
  })
  const [tightest] = refused.toSorted(
    (a, b) => remainingAmount(a.budget, a.account) - remainingAmount(b.budget, b.account),
  )
  return tightest === undefined ? { kind: 'booked', accounts: booked, reached } : { kind: 'exceeded', ...tightest }
}

function emptyAccount(budget: Budget, period: Period): PeriodAccount {
  const { budget_id: budgetId, project_id: projectId } = budget
  const id = accountIdOf(budgetId, period.firstDay)
  return { id, budgetId, projectId, ...period, used: 0, reserved: 0, alertedPercents: [] }
}

function usedAndReserved({ used, reserved }: { used: number; reserved: number }): number {
  return used + reserved
}

/** The amount that may still be requested of a budget, at least 0. */
export function remainingAmount(budget: Budget, account: { used: number; reserved: number }): number {
  return Math.max(0, budget.cap - usedAndReserved(account))
}

/** The usage of a budget in one period, as the API returns it. */
export function usageOf(budget: Budget, period: Period, account: PeriodAccount | undefined): BudgetUsage {
  const { used, reserved } = account ?? { used: 0, reserved: 0 }
  return {
    starts_at: isoTime(period.startsAt),
    ends_at: isoTime(period.endsAt),
    // The sum of executed operations may exceed the range of exact numbers. `left` is 0 long before that.
    used: Math.min(used, Number.MAX_SAFE_INTEGER),
    reserved: Math.min(reserved, Number.MAX_SAFE_INTEGER),
    left: remainingAmount(budget, { used, reserved }),
  }
}
