import type { Action } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineList } from './list.ts'

type Query = NonNullable<Parameters<typeof api.actions.list>[0]>
type Filter = Omit<Query, 'limit' | 'cursor' | 'format'>

export const actionList = defineList<Action, { [K in keyof Filter]: Filter[K] }>({
  resource: 'actions',
  read: (query, signal) => api.actions.list(query, { signal }),
  idOf: action => action.action_id,
  matches: (action, query) => query.project_id === action.project_id && matchesFilter(action, query),
})

function matchesFilter(
  action: Action,
  { min_amount, max_amount, from, to, made_from, made_to, ...equal }: Filter,
): boolean {
  const amount = action.amount ?? undefined
  return (
    Object.entries(equal).every(([field, value]) => value === undefined || action[field as keyof Action] === value) &&
    (min_amount === undefined || (amount !== undefined && amount >= min_amount)) &&
    (max_amount === undefined || (amount !== undefined && amount <= max_amount)) &&
    (from === undefined || action.first_seen_at >= from) &&
    (to === undefined || action.first_seen_at < to) &&
    (made_from === undefined || action.provider_created_at >= made_from) &&
    (made_to === undefined || action.provider_created_at < made_to)
  )
}

export function actionQuery(id: string) {
  return queryOptions({
    queryKey: ['actions', 'one', id],
    queryFn: ({ signal }) => api.actions.get(id, { signal }),
  })
}
