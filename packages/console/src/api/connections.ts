import type { Connection } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineList } from './list.ts'

export const connectionList = defineList<Connection, { project_id: string }>({
  resource: 'connections',
  read: ({ project_id, ...page }, signal) => api.connections.list(project_id, page, { signal }),
  idOf: connection => connection.connection_id,
  matches: (connection, { project_id }) => connection.project_id === project_id && connection.status !== 'deleted',
})

export function connectionQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ['connections', 'one', id],
    queryFn: ({ signal }) => api.connections.get(projectId, id, { signal }),
  })
}
