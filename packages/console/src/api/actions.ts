/** Refunds and cancellations, and what is counted of them. */
import type { Connection, SettingDryRun, Statement } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineItem, defineList, hasFields } from './resource.ts'

export const actionList = defineList('actions', api.actions.list, ({ action_id }) => action_id, {
  matches(action, { min_amount, max_amount, from, to, made_from, made_to, customer_id, ...equal }) {
    const amount = action.amount ?? undefined
    return (
      equal.project_id === action.project_id &&
      hasFields(action, equal) &&
      (customer_id === undefined || action.customer?.id === customer_id) &&
      (min_amount === undefined || (amount !== undefined && amount >= min_amount)) &&
      (max_amount === undefined || (amount !== undefined && amount <= max_amount)) &&
      (from === undefined || action.first_seen_at >= from) &&
      (to === undefined || action.first_seen_at < to) &&
      (made_from === undefined || action.provider_created_at >= made_from) &&
      (made_to === undefined || action.provider_created_at < made_to)
    )
  },
})
export const actionQuery = defineItem('actions', api.actions.get)

export type { SettingDryRun as DryRun, Statement, Stats } from '@backstop/client'

const DAY_MS = 24 * 60 * 60_000

/** The verdicts of the last days, today included, by UTC day. No live event has them, so they are read again whenever they are shown. */
export function statsQuery(project_id: string, days: number) {
  return queryOptions({
    queryKey: ['stats', 'days', project_id, days],
    queryFn({ signal }) {
      const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10)
      return api.stats.get({ project_id, interval: 'day', from }, { signal })
    },
    staleTime: 0,
  })
}

/** The filter of lists and stats that selects the actions of one customer, actor or connected account. */
export type ActionsOf = Pick<
  NonNullable<Parameters<typeof api.stats.get>[0]>,
  'account' | 'actor_id' | 'customer_id' | 'connection_id'
>

/** The counts of the days between two times. They are read again whenever they are shown. */
export function statsOfQuery(project_id: string, of: ActionsOf, period: { from: string; to?: string }) {
  return queryOptions({
    queryKey: ['stats', 'of', project_id, of, period],
    queryFn: ({ signal }) => api.stats.get({ project_id, ...of, ...period, interval: 'month' }, { signal }),
    staleTime: 0,
  })
}

export type StatementLine = Statement['lines'][number]

const RECOUNT_MS = 2_000

/** The query of a statement of a period in UTC: that of one connection, or of all connections of the project. */
export function statementParams(
  project_id: string,
  connection_id: string | undefined,
  period: { month: string } | { from: string; to: string },
) {
  return connection_id === undefined ? { project_id, ...period } : { connection_id, ...period }
}

/** The statement of a period. It is read again while a day of it waits for its count. */
export function statementQuery(params: ReturnType<typeof statementParams>) {
  return queryOptions({
    queryKey: ['statements', 'one', params],
    queryFn: ({ signal }) => api.statements.get(params, { signal }),
    refetchInterval: query => (query.state.data?.recount_pending === true ? RECOUNT_MS : false),
  })
}

/** What alerted since `from`, and what would have alerted by other settings. The last answer stays while the next one is read. */
export function dryRunQuery(
  { project_id, connection_id }: Connection,
  query: { out_of_band: SettingDryRun['out_of_band']; refunded_twice_within_hours?: number; from: string },
) {
  return queryOptions({
    queryKey: ['dry-runs', 'one', connection_id, query],
    queryFn: ({ signal }) => api.connections.dryRun(project_id, connection_id, query, { signal }),
    placeholderData: previous => (previous?.connection_id === connection_id ? previous : undefined),
  })
}
