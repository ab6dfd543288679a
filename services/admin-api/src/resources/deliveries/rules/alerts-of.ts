import { type IncidentDocument, incidentAlertId, type StormDocument, stormAlertId } from '@backstop/contracts'

const INCIDENT_EVENTS = ['incident.opened', 'incident.acknowledged', 'incident.resolved'] as const

/** The possible alert ids of an incident, sent or not. They are computed from its id. */
export function alertsOfIncident({ _id, reopened = 0 }: Pick<IncidentDocument, '_id' | 'reopened'>): string[] {
  return Array.from({ length: reopened + 1 }, (_, times) => times).flatMap(times =>
    INCIDENT_EVENTS.map(event => incidentAlertId(_id, event, times)),
  )
}

/** The alert ids of a storm: of its reports, and of the bursts that continue in it. */
export function alertsOfStorm({
  _id,
  report,
  bursts = [],
}: Pick<StormDocument, '_id' | 'report' | 'bursts'>): string[] {
  const reports = Array.from({ length: report }, (_, before) => stormAlertId(_id, before + 1))
  return [...bursts.map(({ incident_id }) => incidentAlertId(incident_id, 'incident.opened')), ...reports]
}
