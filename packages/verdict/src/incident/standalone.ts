/** Incidents that are not about an action: of a connection, a channel or an API key. */
import {
  type Alert,
  type Incident,
  type IncidentEvent,
  incidentAlertId,
  isoTime,
  type Names,
  type StoredIncident,
  type TimedOutboxEntry,
} from '@backstop/contracts'
import { incidentMessageId } from '../show/outbox-entries.ts'

/** A new version of an incident without an action, and its outbox entries. Both are written at once. */
export interface IncidentChange {
  readonly incident: StoredIncident
  readonly entries: readonly TimedOutboxEntry[]
}

/** The decision on a command that resolves an incident. `reason` is for the log. */
export type IncidentResolution =
  | { kind: 'resolve'; reason: string; change: IncidentChange }
  | { kind: 'keep'; reason: 'unknown_incident' | 'about_another_channel' | 'about_another_key' | 'resolved_before' }

type StandaloneFacts = Pick<Incident, 'incident_id' | 'project_id' | 'code' | 'summary' | 'opened_at'> &
  Partial<Pick<Incident, 'connection_id' | 'channel_id' | 'key_id'>>

/** A new incident, and its alert. */
export function openStandalone(facts: StandaloneFacts, now: number, names?: Names): IncidentChange {
  const incident: Incident = {
    connection_id: null,
    action_id: null,
    out_of_band: null,
    state: 'open',
    resolved_at: null,
    resolved_by: null,
    version: 1,
    ...facts,
  }
  return { incident, entries: incidentMessages(incident, 'incident.opened', now, names) }
}

/** An incident whose cause has ended. @param ending a sentence that says how, without a full stop */
export function resolveStandalone(
  known: StoredIncident,
  { ending, at }: { readonly ending: string; readonly at: string },
  now: number,
  names?: Names,
): IncidentChange {
  const incident: StoredIncident = {
    ...known,
    state: 'resolved',
    summary: `${known.summary}. ${ending}`,
    resolved_at: at,
    version: known.version + 1,
  }
  return { incident, entries: incidentMessages(incident, 'incident.resolved', now, names) }
}

/**
 * The messages of an incident's change. Their ids are deterministic, so a repeat sends the same messages.
 * @param event the alert to raise; null for none
 */
export function incidentMessages(
  stored: StoredIncident,
  event: IncidentEvent | null,
  now: number,
  names?: Names,
): TimedOutboxEntry[] {
  const { changes = [], ...incident } = stored
  const { incident_id, project_id, state, reopened } = incident
  const id = incidentMessageId(incident_id, state, changes.length)
  const shown: TimedOutboxEntry = { id, topic: 'incidents', key: incident_id, message: incident, at: now }
  if (event === null) return [shown]
  const alert: Alert = {
    alert_id: incidentAlertId(incident_id, event, reopened),
    project_id,
    created_at: isoTime(now),
    event,
    data: { incident, action: null, ...(names === undefined ? {} : { names }) },
  }
  return [shown, { id: alert.alert_id, topic: 'alerts', key: project_id, message: alert, at: now }]
}
