import {
  type Alert,
  hasEndedByItself,
  type Incident,
  type IncidentEvent,
  incidentAlertId,
  isoTime,
  type Names,
  type StoredIncident,
  showableText,
  type TimedOutboxEntry,
} from '@backstop/contracts'
import { incidentMessageId } from '../show/outbox-entries.ts'
import { readProgress, showProgress } from '../show/show-progress.ts'
import { type ChangeDecision, type ChangeIncident, changeIncident, MAX_CHANGES } from './life-cycle.ts'

/** Incidents that are about no action, and so belong to no case. */

/** A new version of an incident without an action, and its outbox entries. Both are written at once. */
export interface IncidentChange {
  readonly incident: StoredIncident
  readonly entries: readonly TimedOutboxEntry[]
}

type About = Pick<Incident, 'incident_id' | 'project_id' | 'code' | 'summary' | 'opened_at'> &
  Partial<Pick<Incident, 'connection_id' | 'channel_id' | 'key_id' | 'burst' | 'storm_id'>>

/** @param names for the alert */
export function openStandalone(about: About, now: number, names?: Names): IncidentChange {
  const incident: Incident = {
    connection_id: null,
    ...about,
    summary: showableText(about.summary),
    state: 'open',
    action_id: null,
    out_of_band: null,
    resolved_at: null,
    resolved_by: null,
    version: 1,
  }
  return { incident, entries: incidentMessages(incident, 'incident.opened', now, names) }
}

/**
 * @param how the end in words, which is added to the summary
 * @param event null to alert nobody
 */
export function resolveStandalone(
  known: StoredIncident,
  how: string,
  resolved_at: string,
  now: number,
  names?: Names,
  event: 'incident.resolved' | null = 'incident.resolved',
): IncidentChange {
  const summary = `${known.summary}. ${how}`
  const incident: StoredIncident = { ...known, state: 'resolved', summary, resolved_at, version: known.version + 1 }
  return { incident, entries: incidentMessages(incident, event, now, names) }
}

/** Decides a change of an incident by a person. @returns `change`, the write to do; null if nothing changes */
export function changeStandalone(
  known: StoredIncident,
  command: ChangeIncident,
  now: number,
  names: Names,
): { readonly decision: ChangeDecision; readonly change: IncidentChange | null } {
  const { version } = known
  const decision = changeIncident(
    {
      id: known.incident_id,
      progress: readProgress(known),
      version,
      nextVersion: version + 1,
      cannotOpen: hasEndedByItself(known) ? 'The cause of the incident has ended, so it cannot be opened again' : null,
      room: MAX_CHANGES,
    },
    command,
    now,
  )
  if (decision.kind !== 'changed') return { decision, change: null }
  const { progress, event } = decision
  const incident: StoredIncident = {
    ...known,
    ...showProgress(progress),
    version: version + 1,
    changes: progress.lifeCycle?.changes ?? [],
  }
  return { decision, change: { incident, entries: incidentMessages(incident, event, now, names) } }
}

/**
 * The messages of an incident's change. Their ids are deterministic, so a repeat sends the same messages.
 * @param event the alert to raise; null for none
 */
function incidentMessages(
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
