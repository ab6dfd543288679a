import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineList } from './list.ts'

export type Storm = Awaited<ReturnType<typeof api.storms.list>>['data'][number]
export type StormWithSteps = Awaited<ReturnType<typeof api.storms.get>>

/** No live event has a storm, so storms are read again whenever they are shown. */
export const stormList = defineList<Storm, { project_id: string }>({
  resource: 'storms',
  read: (query, signal) => api.storms.list(query, { signal }),
  idOf: storm => storm.storm_id,
  staleMs: 0,
})

export function stormQuery(id: string) {
  return queryOptions({
    queryKey: ['storms', 'one', id],
    queryFn: ({ signal }) => api.storms.get(id, { signal }),
    staleTime: 0,
  })
}
