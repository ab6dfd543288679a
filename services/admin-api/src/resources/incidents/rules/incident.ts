import {
  type IncidentDocument,
  incidentAlertId,
  type ShownIncident,
  type StormMemberDocument,
} from '@backstop/contracts'

/** @param member the record of the notifier that says to which storm the incident belongs */
export function showIncident(document: IncidentDocument, member: StormMemberDocument | undefined): ShownIncident {
  const { _id, opened: _sortedBy, outbox: _pending, changes: _inTimeline, ...incident } = document
  return { incident_id: _id, ...incident, storm_id: member?.storm_id ?? null }
}

const INCIDENT_EVENTS = ['incident.opened', 'incident.acknowledged', 'incident.resolved'] as const

/** The possible alert ids of an incident, sent or not. They are computed from its id. */
export function alertsOf({ _id, reopened = 0 }: IncidentDocument): string[] {
  return Array.from({ length: reopened + 1 }, (_, times) => times).flatMap(times =>
    INCIDENT_EVENTS.map(event => incidentAlertId(_id, event, times)),
  )
}
