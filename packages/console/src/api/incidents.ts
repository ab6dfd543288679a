import type { Incident } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineList } from './list.ts'

type IncidentQuery = NonNullable<Parameters<typeof api.incidents.list>[0]> & {
  limit?: number
  cursor?: string
}
type Filter = Pick<IncidentQuery, 'project_id' | 'connection_id' | 'state' | 'code' | 'from' | 'to' | 'q'>

export const incidentList = defineList<Incident, { [K in keyof Filter]: Filter[K] }>({
  resource: 'incidents',
  read: (query, signal) => api.incidents.list(query, { signal }),
  idOf: incident => incident.incident_id,
  matches: (incident, { project_id, connection_id, state, code, from, to, q }) =>
    // Only the API knows what a text finds.
    q === undefined &&
    (project_id === undefined || incident.project_id === project_id) &&
    (connection_id === undefined || incident.connection_id === connection_id) &&
    (state === undefined || incident.state === state) &&
    (code === undefined || incident.code === code) &&
    (from === undefined || incident.opened_at >= from) &&
    (to === undefined || incident.opened_at < to),
})

export function incidentQuery(id: string) {
  return queryOptions({
    queryKey: ['incidents', 'one', id],
    queryFn: ({ signal }) => api.incidents.get(id, { signal }),
  })
}
