/** Channels, the messages that they get, and what they got. */
import type { AlertChannel } from '@backstop/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, queryClient } from './client.ts'
import { mergeIntoLists } from './list-cache.ts'
import { allOf, defineItem, defineList, hasFields } from './resource.ts'

export const channelList = defineList('channels', api.alertChannels.list, ({ channel_id }) => channel_id, {
  matches: (channel, { project_id }) => channel.project_id === project_id,
})
export const channelQuery = defineItem('channels', api.alertChannels.get)

/** Writes a channel that the API answered into its page and the lists. */
export function storeChannel(channel: AlertChannel): void {
  queryClient.setQueryData<object>(channelQuery(channel.channel_id).queryKey, channel)
  mergeIntoLists(queryClient, channelList, channel)
}

/** All channels of a project. Live events are not written into it, so it is read again whenever it is shown. */
export function channelsQuery(project_id: string) {
  return queryOptions({
    queryKey: ['channels', 'all', project_id],
    queryFn: ({ signal }) => allOf(api.alertChannels.list({ project_id, limit: 200 }, { signal })),
    staleTime: 0,
  })
}

/** The names of the channels of a project, by their ids: none while they are read. */
export function useChannelNames(project_id: string): ReadonlyMap<string, string> {
  const channels: readonly AlertChannel[] = useQuery(channelsQuery(project_id)).data ?? []
  return new Map(channels.map(({ channel_id, name }) => [channel_id, name]))
}

export const deliveryList = defineList('deliveries', api.deliveries.list, ({ delivery_id }) => delivery_id, {
  matches: (delivery, { project_id, channel_id, alert_id, incident_id, storm_id, event, state, test }) =>
    test !== 'true' &&
    // Only the API knows the alerts of an incident or a storm.
    incident_id === undefined &&
    storm_id === undefined &&
    hasFields(delivery, { project_id, channel_id, alert_id, event, state }),
})
export const deliveryQuery = defineItem('deliveries', api.deliveries.get)

export const replayList = defineList('replays', api.replays.list, ({ replay_id }) => replay_id)

const PROGRESS_MS = 1_000

/** A replay of deliveries, read again each second until it is done: no live event reports its progress. */
export function replayQuery(id: string) {
  return queryOptions({
    queryKey: ['replays', 'one', id],
    queryFn: ({ signal }) => api.replays.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'done' || state.error !== null ? false : PROGRESS_MS),
  })
}

export const suppressionList = defineList('suppressions', api.suppressions.list, ({ address }) => address)

export type PreviewQuery = NonNullable<Parameters<typeof api.previews.previewMessage>[0]>

/** A preview as plain text or JSON. */
export function previewQuery(query: PreviewQuery) {
  return queryOptions({
    queryKey: ['previews', query],
    async queryFn({ signal }) {
      const answer = await api.request('GET', '/v1/previews', { query, signal })
      const text = await answer.text()
      return query.format === 'text' ? text : JSON.stringify(JSON.parse(text), null, 2)
    },
    // The sample never changes, and the settings are in the query.
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The address of a preview as a page. */
export function previewUrl(query: PreviewQuery): string {
  const given = Object.entries({ ...query, format: 'html' }).filter(([, value]) => value !== undefined)
  return `/v1/previews?${new URLSearchParams(given as [string, string][])}`
}
