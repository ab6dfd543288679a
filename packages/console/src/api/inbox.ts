import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineList } from './list.ts'

type Query = NonNullable<Parameters<typeof api.inbox.list>[0]>
type Filter = Omit<Query, 'limit' | 'cursor'>
export type InboxEntry = Awaited<ReturnType<typeof api.inbox.list>>['data'][number]
export type Outcome = InboxEntry['outcome']

export const inboxList = defineList<InboxEntry, { [K in keyof Filter]: Filter[K] }>({
  resource: 'inbox',
  read: (query, signal) => api.inbox.list(query, { signal }),
  idOf: ({ inbox_id }) => inbox_id,
})

export function inboxEntryQuery(connectionId: string, eventId: string) {
  return queryOptions({
    queryKey: ['inbox', 'one', connectionId, eventId],
    queryFn: ({ signal }) => api.inbox.getEntry(connectionId, eventId, { signal }),
  })
}

/** The newest events of a connection, at most 200, from one request. */
export function latestEventsQuery(connectionId: string) {
  return queryOptions({
    queryKey: ['inbox', 'latest', connectionId],
    queryFn: async ({ signal }) => {
      const { data, next_cursor } = await api.inbox.list({ connection_id: connectionId, limit: 200 }, { signal })
      return { events: data, hasMore: next_cursor !== null }
    },
  })
}

/** When the newest event of a connection arrived; null if none did. */
export function lastEventQuery(connectionId: string) {
  return queryOptions({
    queryKey: ['inbox', 'last', connectionId],
    queryFn: async ({ signal }) => {
      const { data } = await api.inbox.list({ connection_id: connectionId, limit: 1 }, { signal })
      return data[0]?.received_at ?? null
    },
  })
}

/** The newest events of a connection with one outcome, at most 200. */
export function eventsByOutcomeQuery(connectionId: string, outcome: Outcome) {
  return queryOptions({
    queryKey: ['inbox', 'outcome', connectionId, outcome],
    queryFn: ({ signal }) => api.inbox.list({ connection_id: connectionId, outcome, limit: 200 }, { signal }),
  })
}

const PROGRESS_MS = 500

/** The replays of a connection, newest first; read again while one of them runs. */
export function inboxReplaysQuery(connectionId: string) {
  return queryOptions({
    queryKey: ['inbox-replays', connectionId],
    queryFn: ({ signal }) => api.inboxReplays.list({ connection_id: connectionId, limit: 10 }, { signal }),
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
export function windowCountQuery(window: { connection_id: string; from: string; to: string; outcome?: Outcome }) {
  const { connection_id, from, to, outcome } = window
  return queryOptions({
    queryKey: ['inbox', 'count', window],
    staleTime: 10_000,
    queryFn: async ({ signal }): Promise<WindowCount> => {
      const query = { connection_id, limit: 200, ...(outcome === undefined ? {} : { outcome }) }
      let count = 0
      let read = 0
      for await (const { received_at } of api.inbox.list(query, { signal })) {
        if (received_at < from) return { count, isComplete: true }
        if (received_at < to) count += 1
        read += 1
        if (read >= MOST_COUNTED) return { count, isComplete: false }
      }
      return { count, isComplete: true }
    },
  })
}
