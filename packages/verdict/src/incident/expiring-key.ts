import { type Command, type Incident, type Names, showableText } from '@backstop/contracts'
import { type IncidentChange, type IncidentResolution, openStandalone, resolveStandalone } from './standalone.ts'

type OpenKeyIncident = Extract<Command, { kind: 'open_key_incident' }>
type OpenRecoveredKeyIncident = Extract<Command, { kind: 'open_recovered_key_incident' }>
type ResolveKeyIncident = Extract<Command, { kind: 'resolve_key_incident' }>
/** The commands about the incident of an API key. */
export interface ExpiringKeyCommand {
  readonly open: OpenKeyIncident | OpenRecoveredKeyIncident
  readonly resolve: ResolveKeyIncident
}

/**
 * The incident of an API key: one that expires soon, so that people are warned before software is refused, or an admin key that somebody
 * created with access to the database, so that nobody does that unseen. The second one stays open until a person resolves it.
 */
export function openKeyIncident(command: ExpiringKeyCommand['open'], now: number, names?: Names): IncidentChange {
  const { incident_id, project_id, key_id, requested_at } = command
  const facts = { incident_id, project_id, ...aboutKey(command), key_id, opened_at: requested_at }
  return openStandalone(facts, now, names)
}

function aboutKey(command: ExpiringKeyCommand['open']): Pick<Incident, 'code' | 'summary'> {
  if (command.kind === 'open_key_incident') {
    return {
      code: 'KEY_EXPIRING',
      summary: showableText(`The API key "${command.key_name}" expires on ${command.expires_at}`),
    }
  }
  const summary = `${showableText(command.operator)} created an admin key for all projects with access to the database`
  return { code: 'KEY_RECOVERED', summary }
}

const OUTCOMES: Readonly<Record<ResolveKeyIncident['outcome'], string>> = {
  rotated: 'It was rotated',
  revoked: 'It was revoked',
  expired: 'It has expired, and requests with it are refused',
}

/** @param known the stored incident; undefined if there is none */
export function resolveKeyIncident(
  command: ResolveKeyIncident,
  known: Incident | undefined,
  now: number,
  names?: Names,
): IncidentResolution {
  if (known === undefined) return { kind: 'keep', reason: 'unknown_incident' }
  const { project_id, key_id, outcome } = command
  if (known.code !== 'KEY_EXPIRING' || known.key_id !== key_id || known.project_id !== project_id) {
    return { kind: 'keep', reason: 'about_another_key' }
  }
  if (known.state === 'resolved') return { kind: 'keep', reason: 'resolved_before' }
  const change = resolveStandalone(known, { ending: OUTCOMES[outcome], at: command.requested_at }, now, names)
  return { kind: 'resolve', reason: `key_${outcome}`, change }
}
