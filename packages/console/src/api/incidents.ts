/** Incidents, alone and in storms. */
import { api } from './client.ts'
import { defineItem, defineList, hasFields } from './resource.ts'

export type { ListedIncident, StormOverview as Storm, StormWithSteps } from '@backstop/client'

export const incidentList = defineList('incidents', api.incidents.list, ({ incident_id }) => incident_id, {
  matches: (incident, { from, to, q, customer_id, fold_storms: _, ...equal }) =>
    // Only the API knows what a text finds.
    q === undefined &&
    hasFields(incident, equal) &&
    (customer_id === undefined || incident.action?.customer?.id === customer_id) &&
    (from === undefined || incident.opened_at >= from) &&
    (to === undefined || incident.opened_at < to),
  // An event does not count the storm for which the incident stands.
  merge: ({ storm }, incident) => (storm === undefined ? incident : { ...incident, storm }),
})
export const incidentQuery = defineItem('incidents', api.incidents.get)

/** No live event has a storm, so storms are read again whenever they are shown. */
export const stormList = defineList('storms', api.storms.list, ({ storm_id }) => storm_id, { staleMs: 0 })
export const stormQuery = (id: string) => ({ ...oneStorm(id), staleTime: 0 })
const oneStorm = defineItem('storms', api.storms.get)
