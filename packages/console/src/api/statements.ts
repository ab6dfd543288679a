import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export type Statement = Awaited<ReturnType<typeof api.statements.get>>
export type StatementLine = Statement['lines'][number]

const RECOUNT_MS = 2_000

/** The statement of a connection for a month, such as `2026-11`. It is read again while a day of the month waits for its count. */
export function statementQuery(connection_id: string, month: string) {
  return queryOptions({
    queryKey: ['statements', 'one', connection_id, month],
    queryFn: ({ signal }) => api.statements.get({ connection_id, month }, { signal }),
    enabled: connection_id !== '',
    refetchInterval: query => (query.state.data?.recount_pending === true ? RECOUNT_MS : false),
  })
}
