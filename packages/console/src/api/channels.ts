import type { AlertChannel } from '@backstop/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { allOf } from './all-of.ts'
import { api } from './client.ts'
import { defineList } from './list.ts'

export const channelList = defineList<AlertChannel, { project_id: string }>({
  resource: 'channels',
  read: (query, signal) => api.alertChannels.list(query, { signal }),
  idOf: channel => channel.channel_id,
  matches: (channel, { project_id }) => channel.project_id === project_id,
})

/** All channels of a project. Live events are not written into it, so it is read again whenever it is shown. */
export function channelsQuery(project_id: string) {
  return queryOptions({
    queryKey: ['channels', 'all', project_id],
    queryFn: ({ signal }) => allOf(api.alertChannels.list({ project_id, limit: 200 }, { signal })),
    staleTime: 0,
  })
}

/** For choices and names: none while they are read. */
export function useAllChannels(project_id: string): readonly AlertChannel[] {
  return useQuery(channelsQuery(project_id)).data ?? []
}

export function channelQuery(id: string) {
  return queryOptions({
    queryKey: ['channels', 'one', id],
    queryFn: ({ signal }) => api.alertChannels.get(id, { signal }),
  })
}
