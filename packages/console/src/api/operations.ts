/** What software and people announce: operations and their runs, budgets and expected changes. */
import type { ShownOperation } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import type { ListDefinition, ListQuery } from './list-cache.ts'
import { defineItem, defineList } from './resource.ts'

export const operationList = defineList('operations', api.operations.list, ({ operation_id }) => operation_id)
export const operationQuery = defineItem('operations', api.operations.get)

/** The actions that an operation explains. Both are about the same payment or subscription. */
export function explainedActionsQuery({ project_id, subject, operation_id }: ShownOperation) {
  return queryOptions({
    queryKey: ['actions', 'explained-by', operation_id],
    async queryFn({ signal }) {
      const { data } = await api.actions.list({ project_id, subject, limit: 200 }, { signal })
      return data.filter(action => action.operation_id === operation_id)
    },
  })
}

export const budgetList = defineList('budgets', api.budgets.list, ({ budget_id }) => budget_id)
export const budgetQuery = defineItem('budgets', api.budgets.get)

export const runList = defineList('runs', api.runs.list, ({ run_id }) => run_id)
export function runQuery(id: string, project_id: string) {
  return queryOptions({
    queryKey: ['runs', 'one', project_id, id],
    queryFn: ({ signal }) => api.runs.get(id, { project_id }, { signal }),
  })
}

export type { ExpectedChange } from '@backstop/client'
export const expectedChangeList = defineList(
  'expected-changes',
  api.expectedChanges.list,
  ({ expected_change_id }) => expected_change_id,
)
export const expectedChangeQuery = defineItem('expected-changes', api.expectedChanges.get)

export type ExpectedChangeUse = Awaited<ReturnType<typeof api.expectedChanges.listUses>>['data'][number]
/** The changes that an expected change covers. */
export function expectedChangeUses(id: string): ListDefinition<ExpectedChangeUse, Record<never, never>> {
  return defineList(
    `expected-changes/${id}/uses`,
    (query?: ListQuery, options?) => api.expectedChanges.listUses(id, query, options),
    ({ action_id }) => action_id,
  )
}
