import type { Delivery } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineList } from './list.ts'

type Query = NonNullable<Parameters<typeof api.deliveries.list>[0]>
type Filter = Omit<Query, 'limit' | 'cursor' | 'format'>

export const deliveryList = defineList<Delivery, { [K in keyof Filter]: Filter[K] }>({
  resource: 'deliveries',
  read: (query, signal) => api.deliveries.list(query, { signal }),
  idOf: delivery => delivery.delivery_id,
  matches: (delivery, { project_id, channel_id, alert_id, incident_id, event, state, test }) =>
    test !== 'true' &&
    // A delivery does not say which incident it is about.
    incident_id === undefined &&
    (event === undefined || delivery.event === event) &&
    (project_id === undefined || delivery.project_id === project_id) &&
    (channel_id === undefined || delivery.channel_id === channel_id) &&
    (alert_id === undefined || delivery.alert_id === alert_id) &&
    (state === undefined || delivery.state === state),
})

export function deliveryQuery(id: string) {
  return queryOptions({
    queryKey: ['deliveries', 'one', id],
    queryFn: ({ signal }) => api.deliveries.get(id, { signal }),
  })
}
