import type { ShownOperation } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineList } from './list.ts'

type Query = NonNullable<Parameters<typeof api.operations.list>[0]>
type Filter = Omit<Query, 'limit' | 'cursor' | 'format'>

export const operationList = defineList<ShownOperation, { [K in keyof Filter]: Filter[K] }>({
  resource: 'operations',
  read: (query, signal) => api.operations.list(query, { signal }),
  idOf: operation => operation.operation_id,
})

export function operationQuery(id: string) {
  return queryOptions({
    queryKey: ['operations', 'one', id],
    queryFn: ({ signal }) => api.operations.get(id, { signal }),
  })
}

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
