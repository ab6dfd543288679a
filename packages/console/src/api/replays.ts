import type { Replay } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineList } from './list.ts'

export const replayList = defineList<Replay, { project_id: string; channel_id?: string }>({
  resource: 'replays',
  read: (query, signal) => api.replays.list(query, { signal }),
  idOf: replay => replay.replay_id,
})

const PROGRESS_MS = 1_000

/** A replay of deliveries, read again each second until it is done: no live event reports its progress. */
export function replayQuery(id: string) {
  return queryOptions({
    queryKey: ['replays', 'one', id],
    queryFn: ({ signal }) => api.replays.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'done' || state.error !== null ? false : PROGRESS_MS),
  })
}
