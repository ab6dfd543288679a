import { type Budget, type BudgetPatch, type BudgetUsage, isoTime, type NewBudget } from '@backstop/contracts'
import { accountIdOf, type PeriodAccount, periodOf, usageOf } from './rules/budget.ts'

/** Budgets as people keep them; what operations take of them is the ledger's. All calls throw AppError `unavailable`. */
export interface Budgets {
  /** Makes a budget; the same id again answers the one that is there. It counts what is asked for from now on. */
  create(id: string, budget: NewBudget, now: number): Promise<Budget>
  /** A budget that is not deleted. */
  get(id: string): Promise<Budget | undefined>
  /** Newest first. */
  list(filter: BudgetFilter): Promise<Budget[]>
  /** @returns undefined when the budget is no longer as it was read */
  change(budget: Budget, patch: BudgetPatch, now: number): Promise<Budget | undefined>
  /** What operations hold of it stays readable on them. @returns false when the budget is no longer as it was read */
  remove(budget: Budget, now: number): Promise<boolean>
  /** What is taken of each in its present period, in the order in which they are given. One read. */
  usage(budgets: readonly Budget[], now: number): Promise<BudgetUsage[]>
}

export interface BudgetFilter {
  readonly projectId?: string | undefined
  readonly connectionId?: string | undefined
  /** Continue after this one. */
  readonly after?: { readonly at: Date; readonly id: string } | undefined
  readonly limit: number
}

/** What is kept of budgets, as a narrow port. */
export interface BudgetStore {
  /** A budget whose id is there already stays as it is. */
  insert(budget: Budget): Promise<void>
  load(id: string): Promise<Budget | undefined>
  list(filter: BudgetFilter): Promise<Budget[]>
  /** Replaces version `budget.version - 1`. @returns false when another version is there */
  replace(budget: Budget): Promise<boolean>
  remove(budget: Budget, now: number): Promise<boolean>
  accounts(ids: readonly string[]): Promise<PeriodAccount[]>
}

/** Budgets over a store. */
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
      const changed: Budget = {
        ...budget,
        name: name ?? budget.name,
        cap: cap ?? budget.cap,
        version: budget.version + 1,
        updated_at: isoTime(now),
      }
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
