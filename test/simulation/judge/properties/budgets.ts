import type { Case } from '../evidence.ts'
import type { Property } from '../property.ts'

/** What a budget grants. */
export const BUDGET_PROPERTIES: readonly Property[] = [
  { name: 'budgets-hold', promise: 'budgets', check: findBudgetFaults },
]

/** A budget grants as many operations of one amount as fit, and shows what they reserve. */
function findBudgetFaults({ truth, evidence }: Case): string[] {
  const shown = new Map(
    evidence.projects.flatMap(({ budgets }) => budgets.map(budget => [budget.budget_id, budget] as const)),
  )
  return truth.budgets.flatMap(({ budgetId, cap, amount, granted, refused, open }) => {
    const fit = Math.floor(cap / amount)
    if (granted > fit) return [`The budget ${budgetId} granted ${granted} operations, and only ${fit} fit`]
    if (open > 0) return []
    if (refused > 0 && granted < fit)
      return [`The budget ${budgetId} refused an operation, and ${fit - granted} more fit`]
    const reserved = shown.get(budgetId)?.current.reserved
    return reserved === granted * amount
      ? []
      : [`The budget ${budgetId} shows ${reserved} as reserved for ${granted} of ${amount}`]
  })
}
