import {
  deterministicId,
  type IncidentCode,
  isoTime,
  type Names,
  type StoredIncident,
  showableText,
} from '@backstop/contracts'
import { type IncidentChange, openStandalone, resolveStandalone } from './standalone.ts'

/** The faults of a connection. */
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
  const facts = {
    incident_id: deterministicId('incident', connection.id, code, String(since)),
    project_id: connection.projectId,
    connection_id: connection.id,
    code,
    summary: showableText(`Connection "${connection.name}": ${text}`),
    opened_at: isoTime(now),
  }
  return openStandalone(facts, now, connection.names)
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
  const ending = RESOLVED_TEXT[known.code as ConnectionFault]
  return resolveStandalone(known, { ending, at: isoTime(now) }, now, names)
}
