import type { Connection } from '@backstop/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { allOf } from './all-of.ts'
import { api } from './client.ts'
import { defineList } from './list.ts'

export const connectionList = defineList<Connection, { project_id: string }>({
  resource: 'connections',
  read: ({ project_id, ...page }, signal) => api.connections.list(project_id, page, { signal }),
  idOf: connection => connection.connection_id,
  matches: (connection, { project_id }) => connection.project_id === project_id && connection.status !== 'deleted',
})

/** All connections of a project. Live events are not written into it, so it is read again whenever it is shown. */
export function connectionsQuery(projectId: string) {
  return queryOptions({
    queryKey: ['connections', 'all', projectId],
    queryFn: ({ signal }) => allOf(api.connections.list(projectId, { limit: 200 }, { signal })),
    staleTime: 0,
  })
}

/** For choices and names: none while they are read. */
export function useAllConnections(projectId: string): readonly Connection[] {
  return useQuery(connectionsQuery(projectId)).data ?? []
}

/** The names of the connections of a project, by their ids: none while they are read. */
export function useConnectionNames(projectId: string): ReadonlyMap<string, string> {
  return new Map(useAllConnections(projectId).map(({ connection_id, name }) => [connection_id, name]))
}

export function connectionQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ['connections', 'one', id],
    queryFn: ({ signal }) => api.connections.get(projectId, id, { signal }),
  })
}
