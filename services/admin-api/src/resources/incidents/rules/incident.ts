import {
  hasEndedByItself,
  type IncidentDocument,
  IncidentState,
  incidentAlertId,
  type LifeCycleChange,
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

/** The states in which the reconciler allows a change. */
export const STATES_BEFORE: Record<LifeCycleChange['kind'], readonly IncidentDocument['state'][]> = {
  acknowledge: ['open'],
  resolve: ['open', 'acknowledged'],
  reopen: ['resolved'],
  assign: IncidentState.options,
  comment: IncidentState.options,
}

/** True if a change of several incidents includes this one. The reconciler decides each. */
export function allowsChange(
  incident: Pick<IncidentDocument, 'state' | 'reason'>,
  kind: LifeCycleChange['kind'],
): boolean {
  return STATES_BEFORE[kind].includes(incident.state) && !(kind === 'reopen' && hasEndedByItself(incident))
}
