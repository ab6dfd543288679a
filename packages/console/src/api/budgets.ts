import type { ShownBudget } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineList } from './list.ts'

export const budgetList = defineList<ShownBudget, { project_id: string }>({
  resource: 'budgets',
  read: (query, signal) => api.budgets.list(query, { signal }),
  idOf: budget => budget.budget_id,
})

export function budgetQuery(id: string) {
  return queryOptions({
    queryKey: ['budgets', 'one', id],
    queryFn: ({ signal }) => api.budgets.get(id, { signal }),
  })
}
