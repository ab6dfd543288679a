import { deterministicId, type IncidentCode, isoTime, type Names, type StoredIncident } from '@backstop/contracts'
import { type IncidentChange, openStandalone, resolveStandalone } from './standalone.ts'

export type ConnectionFault = Extract<IncidentCode, 'FEED_SILENT' | 'VERIFICATION_UNAVAILABLE'>

export interface FaultyConnection {
  readonly id: string
  readonly projectId: string
  readonly name: string
  /** For the alert. */
  readonly names: Names
}

/**
 * The incident of a connection whose notifications or re-reads fail.
 * @param since when the fault began, in milliseconds since the epoch. Opening twice with the same time gives the same
 * incident.
 * @param text a description that a person can act on
 */
export function openConnectionIncident(
  connection: FaultyConnection,
  code: ConnectionFault,
  since: number,
  text: string,
  now: number,
): IncidentChange {
  const { id, projectId, name, names } = connection
  const incident_id = deterministicId('incident', id, code, String(since))
  const summary = `Connection "${name}": ${text}`
  const about = { incident_id, project_id: projectId, connection_id: id, code, summary, opened_at: isoTime(now) }
  return openStandalone(about, now, names)
}

const RESOLVED_TEXT: Record<ConnectionFault, string> = {
  FEED_SILENT: 'Notifications arrive again',
  VERIFICATION_UNAVAILABLE: "The provider's data can be read again",
}

/**
 * Resolves an open incident.
 * @returns undefined if it is already resolved
 */
export function resolveConnectionIncident(
  known: StoredIncident,
  names: Names,
  now: number,
): IncidentChange | undefined {
  if (known.state === 'resolved') return undefined
  return resolveStandalone(known, RESOLVED_TEXT[known.code as ConnectionFault], isoTime(now), now, names)
}
