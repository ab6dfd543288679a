import { type Budget, type BudgetPatch, type BudgetUsage, isoTime, type NewBudget, periodOf } from '@backstop/contracts'
import { accountIdOf, type PeriodAccount, usageOf } from './rules/budget.ts'

/**
 * Manages the budgets that people create. The ledger reserves and spends them. All calls throw AppError `unavailable`
 * if the store is unavailable.
 */
export interface Budgets extends Pick<BudgetStore, 'list' | 'remove'> {
  /**
   * Creates a budget, or returns the stored one with that id. A new budget counts operations that are requested from
   * now on.
   */
  create(id: string, budget: NewBudget, now: number): Promise<Budget>
  /** Returns a budget; undefined if it is unknown or deleted. */
  get(id: string): Promise<Budget | undefined>
  /** @returns undefined if the budget was changed since it was read */
  change(budget: Budget, patch: BudgetPatch, now: number): Promise<Budget | undefined>
  /** Returns the usage of each budget in its present period, in the order of the argument, with one read. */
  usage(budgets: readonly Budget[], now: number): Promise<BudgetUsage[]>
}

/** The budgets to list. */
export interface BudgetFilter {
  readonly projectId?: string | undefined
  readonly connectionId?: string | undefined
  /** Continue after this budget. */
  readonly after?: { readonly at: Date; readonly id: string } | undefined
  readonly limit: number
}

/** The store of budgets, as a narrow port. */
export interface BudgetStore {
  /** Inserts a budget. A stored budget with that id is kept. */
  insert(budget: Budget): Promise<void>
  load(id: string): Promise<Budget | undefined>
  /** Returns budgets, newest first. */
  list(filter: BudgetFilter): Promise<Budget[]>
  /** Replaces version `budget.version - 1`. @returns false if another version is stored */
  replace(budget: Budget): Promise<boolean>
  /** Deletes a budget. Operations keep their shares of it. @returns false if it was changed since it was read */
  remove(budget: Budget, now: number): Promise<boolean>
  accounts(ids: readonly string[]): Promise<PeriodAccount[]>
}

/** Creates budgets over a store. */
export function createBudgets(store: BudgetStore): Budgets {
  return {
    async create(id, { connection_id, ...given }, now) {
      const at = isoTime(now)
      const times = { created_at: at, updated_at: at }
      const budget = { budget_id: id, ...given, connection_id: connection_id ?? null, version: 1, ...times }
      await store.insert(budget)
      return (await store.load(id)) ?? budget
    },
    get: id => store.load(id),
    list: filter => store.list(filter),
    async change(budget, { name, cap }, now) {
      const fields = { name: name ?? budget.name, cap: cap ?? budget.cap }
      const changed = { ...budget, ...fields, version: budget.version + 1, updated_at: isoTime(now) }
      return (await store.replace(changed)) ? changed : undefined
    },
    remove: (budget, now) => store.remove(budget, now),
    async usage(budgets, now) {
      const periods = budgets.map(budget => periodOf(budget.interval, now))
      const ids = budgets.map((budget, index) => accountIdOf(budget.budget_id, periods[index]!.firstDay))
      const found = ids.length === 0 ? [] : await store.accounts(ids)
      const accounts = new Map(found.map(account => [account.id, account]))
      return budgets.map((budget, index) => usageOf(budget, periods[index]!, accounts.get(ids[index]!)))
    },
  }
}
