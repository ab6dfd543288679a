import type { AlertChannel } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineList } from './list.ts'

export const channelList = defineList<AlertChannel, { project_id: string }>({
  resource: 'channels',
  read: (query, signal) => api.alertChannels.list(query, { signal }),
  idOf: channel => channel.channel_id,
  matches: (channel, { project_id }) => channel.project_id === project_id,
})

export function channelQuery(id: string) {
  return queryOptions({
    queryKey: ['channels', 'one', id],
    queryFn: ({ signal }) => api.alertChannels.get(id, { signal }),
  })
}
