import {
  type Alert,
  type Command,
  deterministicId,
  type Incident,
  incidentAlertId,
  isoTime,
  type Names,
  type TimedOutboxEntry,
} from '@backstop/contracts'

export type OpenChannelIncident = Extract<Command, { kind: 'open_channel_incident' }>
export type ResolveChannelIncident = Extract<Command, { kind: 'resolve_channel_incident' }>

/** A new version of an incident without an action, and its outbox entries. Both are written at once. */
export interface IncidentChange {
  readonly incident: Incident
  readonly entries: readonly TimedOutboxEntry[]
}

/** The incident of a channel that was disabled after failures. It tells people that alerts do not arrive there. */
export function openChannelIncident(command: OpenChannelIncident, now: number, names?: Names): IncidentChange {
  const incident: Incident = {
    incident_id: command.incident_id,
    project_id: command.project_id,
    connection_id: null,
    code: 'CHANNEL_DISABLED',
    state: 'open',
    summary: `The alert channel "${command.channel_name}" was disabled: ${command.reason}`,
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

export type ChannelIncidentResolution =
  | { kind: 'resolve'; reason: 'channel_enabled'; told: IncidentChange }
  | { kind: 'keep'; reason: 'unknown_incident' | 'about_another_channel' | 'resolved_before' }

/** @param known the stored incident; undefined if there is none */
export function resolveChannelIncident(
  command: ResolveChannelIncident,
  known: Incident | undefined,
  now: number,
  names?: Names,
): ChannelIncidentResolution {
  if (known === undefined) return { kind: 'keep', reason: 'unknown_incident' }
  const { project_id, channel_id } = command
  if (known.code !== 'CHANNEL_DISABLED' || known.channel_id !== channel_id || known.project_id !== project_id) {
    return { kind: 'keep', reason: 'about_another_channel' }
  }
  if (known.state === 'resolved') return { kind: 'keep', reason: 'resolved_before' }
  const incident: Incident = {
    ...known,
    state: 'resolved',
    summary: `${known.summary}. It was enabled again`,
    resolved_at: command.requested_at,
    version: known.version + 1,
  }
  return {
    kind: 'resolve',
    reason: 'channel_enabled',
    told: { incident, entries: incidentMessages(incident, 'incident.resolved', now, names) },
  }
}

/** The messages of an incident's change. Their ids are deterministic, so a repeat sends the same messages. */
export function incidentMessages(
  incident: Incident,
  event: 'incident.opened' | 'incident.resolved',
  now: number,
  names?: Names,
): TimedOutboxEntry[] {
  const { incident_id, project_id, state } = incident
  const alert: Alert = {
    alert_id: incidentAlertId(incident_id, event),
    project_id,
    created_at: isoTime(now),
    event,
    data: { incident, action: null, ...(names === undefined ? {} : { names }) },
  }
  const id = deterministicId('message', 'incident', incident_id, state)
  return [
    { id, topic: 'incidents', key: incident_id, message: incident, at: now },
    { id: alert.alert_id, topic: 'alerts', key: project_id, message: alert, at: now },
  ]
}
