/** Connections, and the events of their providers. */
import type { Connection, InboxEntry } from '@backstop/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, queryClient, refresh } from './client.ts'
import { type ListDefinition, mergeIntoLists } from './list-cache.ts'
import { allOf, defineList } from './resource.ts'

export const connectionList: ListDefinition<Connection, { project_id: string }> = {
  resource: 'connections',
  read: ({ project_id, ...page }, options) => api.connections.list(project_id, page, options),
  idOf: ({ connection_id }) => connection_id,
  matches: (connection, { project_id }) => connection.project_id === project_id && connection.status !== 'deleted',
}

/** All connections of a project. Live events are not written into it, so it is read again whenever it is shown. */
export function connectionsQuery(projectId: string) {
  return queryOptions({
    queryKey: ['connections', 'all', projectId],
    queryFn: ({ signal }) => allOf(api.connections.list(projectId, { limit: 200 }, { signal })),
    staleTime: 0,
  })
}

/** The names of the connections of a project, by their ids: none while they are read. */
export function useConnectionNames(projectId: string): ReadonlyMap<string, string> {
  const connections = useQuery(connectionsQuery(projectId)).data ?? []
  return new Map(connections.map(({ connection_id, name }) => [connection_id, name]))
}

/** The name of a connection, with the connected account if there is one. */
export function nameWithAccount(connection: string | undefined, account: string | undefined): string | undefined {
  return account === undefined ? connection : [connection, account].filter(Boolean).join(', ')
}

export function connectionQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ['connections', 'one', id],
    queryFn: ({ signal }) => api.connections.get(projectId, id, { signal }),
  })
}

/** Writes a connection that the API answered into its page and the lists. */
export function storeConnection(connection: Connection): void {
  queryClient.setQueryData<object>(['connections', 'one', connection.connection_id], connection)
  mergeIntoLists(queryClient, connectionList, connection)
}

/** Reads everything again that shows a silence of a connection. */
export function refreshSilences(connectionId: string): Promise<void> {
  return refresh('connections', ['silences', connectionId])
}

export type { InboxEntry } from '@backstop/client'
export type InboxOutcome = InboxEntry['outcome']

export const inboxList = defineList('inbox', api.inbox.list, ({ inbox_id }) => inbox_id)

export function inboxEntryQuery(connectionId: string, eventId: string) {
  return queryOptions({
    queryKey: ['inbox', 'one', connectionId, eventId],
    queryFn: ({ signal }) => api.inbox.getEntry(connectionId, eventId, { signal }),
  })
}

/** The newest events of a connection, at most 200, from one request. @param outcome only those with this one */
export function latestEventsQuery(connection_id: string, outcome?: InboxOutcome) {
  return queryOptions({
    queryKey: ['inbox', 'latest', connection_id, outcome ?? 'any'],
    queryFn: ({ signal }) =>
      api.inbox.list({ connection_id, limit: 200, ...(outcome === undefined ? {} : { outcome }) }, { signal }),
  })
}

/** When the newest event of a connection arrived; null if none did. */
export function lastEventQuery(connection_id: string) {
  return queryOptions({
    queryKey: ['inbox', 'last', connection_id],
    async queryFn({ signal }) {
      const { data } = await api.inbox.list({ connection_id, limit: 1 }, { signal })
      return data[0]?.received_at ?? null
    },
  })
}

const PROGRESS_MS = 500

/** The replays of a connection, newest first; read again while one of them runs. */
export function inboxReplaysQuery(connection_id: string) {
  return queryOptions({
    queryKey: ['inbox-replays', connection_id],
    queryFn: ({ signal }) => api.inboxReplays.list({ connection_id, limit: 10 }, { signal }),
    refetchInterval: ({ state }) => (state.data?.data.some(replay => replay.state !== 'done') ? PROGRESS_MS : false),
  })
}

/** The number of events that a replay of the window would select, and whether there are more than were counted. */
export interface WindowCount {
  readonly count: number
  readonly isComplete: boolean
}

const MOST_COUNTED = 5_000

/** Counts the events of a window. The inbox has no count, so its pages are read from the newest event back to `from`. */
export function windowCountQuery(window: { connection_id: string; from: string; to: string; outcome?: InboxOutcome }) {
  const { from, to, ...where } = window
  return queryOptions({
    queryKey: ['inbox', 'count', window],
    staleTime: 10_000,
    async queryFn({ signal }): Promise<WindowCount> {
      let count = 0
      let read = 0
      for await (const { received_at } of api.inbox.list({ ...where, limit: 200 }, { signal })) {
        if (received_at < from) return { count, isComplete: true }
        if (received_at < to) count += 1
        read += 1
        if (read >= MOST_COUNTED) return { count, isComplete: false }
      }
      return { count, isComplete: true }
    },
  })
}
