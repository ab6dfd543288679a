import {
  type Alert,
  type ChannelIncidentEnd,
  type Command,
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

export type OpenChannelIncident = Extract<Command, { kind: 'open_channel_incident' }>
export type ResolveChannelIncident = Extract<Command, { kind: 'resolve_channel_incident' }>
/** The commands about the incident of a channel that delivers nothing, or was disabled. */
export interface FailingChannelCommand {
  readonly open: OpenChannelIncident
  readonly resolve: ResolveChannelIncident
}

/** A new version of an incident without an action, and its outbox entries. Both are written at once. */
export interface IncidentChange {
  readonly incident: StoredIncident
  readonly entries: readonly TimedOutboxEntry[]
}

/** The incident of a channel that delivers nothing, or was disabled after failures. It tells people that alerts do not arrive there. */
export function openChannelIncident(command: OpenChannelIncident, now: number, names?: Names): IncidentChange {
  const isFailing = command.fault === 'failing'
  const incident: Incident = {
    incident_id: command.incident_id,
    project_id: command.project_id,
    connection_id: null,
    code: isFailing ? 'CHANNEL_FAILING' : 'CHANNEL_DISABLED',
    state: 'open',
    summary: showableText(
      `The alert channel "${command.channel_name}" ${isFailing ? 'delivers nothing' : 'was disabled'}: ${command.reason}`,
    ),
    action_id: null,
    channel_id: command.channel_id,
    out_of_band: null,
    opened_at: command.requested_at,
    resolved_at: null,
    resolved_by: null,
    version: 1,
  }
  return { incident, entries: incidentMessages(incident, 'incident.opened', now, names) }
}

/** How the incident of a channel ended, in words. */
const ENDS: Record<ChannelIncidentEnd | 'enabled', string> = {
  enabled: 'It was enabled again',
  recovered: 'It delivers again',
  cleared: 'The cause was removed, and the next alert is sent there',
  disabled: 'It was disabled meanwhile, and another incident is about that',
  switched_off: 'It was switched off, and gets no more alerts',
  deleted: 'It was deleted, and gets no more alerts',
}

/** The decision on a command that resolves an incident. `reason` is for the log. */
export type IncidentResolution =
  | { kind: 'resolve'; reason: string; change: IncidentChange }
  | { kind: 'keep'; reason: 'unknown_incident' | 'about_another_channel' | 'about_another_key' | 'resolved_before' }

/** @param known the stored incident; undefined if there is none */
export function resolveChannelIncident(
  command: ResolveChannelIncident,
  known: StoredIncident | undefined,
  now: number,
  names?: Names,
): IncidentResolution {
  if (known === undefined) return { kind: 'keep', reason: 'unknown_incident' }
  const { project_id, channel_id, outcome = 'enabled' } = command
  if (
    known.code !== (outcome === 'enabled' ? 'CHANNEL_DISABLED' : 'CHANNEL_FAILING') ||
    known.channel_id !== channel_id ||
    known.project_id !== project_id
  ) {
    return { kind: 'keep', reason: 'about_another_channel' }
  }
  if (known.state === 'resolved') return { kind: 'keep', reason: 'resolved_before' }
  const incident: StoredIncident = {
    ...known,
    state: 'resolved',
    summary: `${known.summary}. ${ENDS[outcome]}`,
    resolved_at: command.requested_at,
    version: known.version + 1,
  }
  return {
    kind: 'resolve',
    reason: `channel_${outcome}`,
    change: { incident, entries: incidentMessages(incident, 'incident.resolved', now, names) },
  }
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
