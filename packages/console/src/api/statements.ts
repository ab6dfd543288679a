import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export type Statement = Awaited<ReturnType<typeof api.statements.get>>
export type StatementLine = Statement['lines'][number]

const RECOUNT_MS = 2_000

/** The query of a statement: that of one connection, or of all connections of the project. */
export function statementParams(project_id: string, connection_id: string | undefined, month: string) {
  return connection_id === undefined ? { project_id, month } : { connection_id, month }
}

/** The statement of a month, such as `2026-11`. It is read again while a day of the month waits for its count. */
export function statementQuery(params: ReturnType<typeof statementParams>) {
  return queryOptions({
    queryKey: ['statements', 'one', params],
    queryFn: ({ signal }) => api.statements.get(params, { signal }),
    refetchInterval: query => (query.state.data?.recount_pending === true ? RECOUNT_MS : false),
  })
}
