import {
  hasEndedByItself,
  type IncidentDocument,
  IncidentState,
  type LifeCycleChange,
  type ShownIncident,
} from '@backstop/contracts'
import type { NamedIncident } from '../../actors/name-actors.ts'

/** @param stormId the storm to which the incident belongs, as the notifier recorded it */
export function showIncident(document: NamedIncident, stormId: string | undefined): ShownIncident {
  const { _id, opened: _sortedBy, outbox: _pending, changes: _inTimeline, ...incident } = document
  return { incident_id: _id, ...incident, storm_id: stormId ?? null }
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
