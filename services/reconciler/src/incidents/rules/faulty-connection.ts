import { deterministicId, type Incident, type IncidentCode, isoTime } from '@backstop/contracts'
import { type IncidentChange, incidentMessages } from './failing-channel.ts'

/** What can be wrong with a connection itself. */
export type ConnectionFault = Extract<IncidentCode, 'FEED_SILENT' | 'VERIFICATION_UNAVAILABLE'>

export interface FaultyConnection {
  readonly id: string
  readonly projectId: string
  readonly name: string
}

/**
 * The incident of a connection that cannot do its work.
 * @param since when it began: a repeat of the same opening is the same incident
 * @param text in words a person can act on
 */
export function openConnectionIncident(
  connection: FaultyConnection,
  code: ConnectionFault,
  since: number,
  text: string,
  now: number,
): IncidentChange {
  const incident: Incident = {
    incident_id: deterministicId('incident', connection.id, code, String(since)),
    project_id: connection.projectId,
    connection_id: connection.id,
    code,
    state: 'open',
    summary: `Connection "${connection.name}": ${text}`,
    action_id: null,
    out_of_band: null,
    opened_at: isoTime(now),
    resolved_at: null,
    resolved_by: null,
    version: 1,
  }
  return { incident, entries: incidentMessages(incident, 'incident.opened', now) }
}

const RESOLVED_TEXT: Record<ConnectionFault, string> = {
  FEED_SILENT: 'Notifications arrive again',
  VERIFICATION_UNAVAILABLE: "The provider's data can be read again",
}

/** The next version of an open one. @returns undefined for one that is resolved already */
export function resolveConnectionIncident(known: Incident, now: number): IncidentChange | undefined {
  if (known.state === 'resolved') return undefined
  const incident: Incident = {
    ...known,
    state: 'resolved',
    summary: `${known.summary}. ${RESOLVED_TEXT[known.code as ConnectionFault]}`,
    resolved_at: isoTime(now),
    version: known.version + 1,
  }
  return { incident, entries: incidentMessages(incident, 'incident.resolved', now) }
}
