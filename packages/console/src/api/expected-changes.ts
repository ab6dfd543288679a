import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineList } from './list.ts'

export type ExpectedChange = Awaited<ReturnType<typeof api.expectedChanges.get>>
export type NewExpectedChange = Parameters<typeof api.expectedChanges.create>[0]

export const expectedChangeList = defineList<ExpectedChange, { project_id: string }>({
  resource: 'expected-changes',
  read: (query, signal) => api.expectedChanges.list(query, { signal }),
  idOf: change => change.expected_change_id,
})

export function expectedChangeQuery(id: string) {
  return queryOptions({
    queryKey: ['expected-changes', 'one', id],
    queryFn: ({ signal }) => api.expectedChanges.get(id, { signal }),
  })
}
