import type { ChannelIncidentEnd, Command, Incident, Names, StoredIncident } from '@backstop/contracts'
import { type IncidentChange, openStandalone, resolveStandalone } from './standalone.ts'

/**
 * The incidents that other services request by commands. Of a channel that delivers nothing, or was disabled after failures: people must know
 * that alerts do not arrive there. Of an API key that expires soon, so that people are warned before software is refused. Of an admin key
 * that somebody created with access to the database, so that nobody does that unseen; it stays open until a person resolves it.
 */

export type OpenIncident = Extract<
  Command,
  { kind: 'open_channel_incident' | 'open_key_incident' | 'open_recovered_key_incident' }
>
export type ResolveIncident = Extract<Command, { kind: 'resolve_channel_incident' | 'resolve_key_incident' }>

export function openRequestedIncident(command: OpenIncident, now: number, names?: Names): IncidentChange {
  const { incident_id, project_id, requested_at: opened_at } = command
  return openStandalone({ incident_id, project_id, opened_at, ...causeOf(command) }, now, names)
}

function causeOf(command: OpenIncident): Pick<Incident, 'code' | 'summary' | 'channel_id' | 'key_id'> {
  switch (command.kind) {
    case 'open_channel_incident': {
      const { channel_id, channel_name, fault, reason } = command
      const [code, what] =
        fault === 'failing'
          ? (['CHANNEL_FAILING', 'delivers nothing'] as const)
          : (['CHANNEL_DISABLED', 'was disabled'] as const)
      return { code, channel_id, summary: `The alert channel "${channel_name}" ${what}: ${reason}` }
    }
    case 'open_key_incident': {
      const { key_id, key_name, expires_at } = command
      return { code: 'KEY_EXPIRING', key_id, summary: `The API key "${key_name}" expires on ${expires_at}` }
    }
    case 'open_recovered_key_incident': {
      const summary = `${command.operator} created an admin key for all projects with access to the database`
      return { code: 'KEY_RECOVERED', key_id: command.key_id, summary }
    }
    default:
      return command satisfies never
  }
}

const ENDS_OF_CHANNEL: Readonly<Record<ChannelIncidentEnd | 'enabled', string>> = {
  enabled: 'It was enabled again',
  recovered: 'It delivers again',
  cleared: 'The cause was removed, and the next alert is sent there',
  disabled: 'It was disabled meanwhile, and another incident is about that',
  switched_off: 'It was switched off, and gets no more alerts',
  deleted: 'It was deleted, and gets no more alerts',
}

const ENDS_OF_KEY: Readonly<Record<Extract<ResolveIncident, { kind: 'resolve_key_incident' }>['outcome'], string>> = {
  rotated: 'It was rotated',
  revoked: 'It was revoked',
  expired: 'It has expired, and requests with it are refused',
}

/** The decision on a command that resolves an incident. `reason` is for the log. */
export type IncidentResolution =
  | { kind: 'resolve'; reason: string; change: IncidentChange }
  | { kind: 'keep'; reason: 'unknown_incident' | 'about_another_channel' | 'about_another_key' | 'resolved_before' }

/** @param known the stored incident; undefined if there is none */
export function resolveRequestedIncident(
  command: ResolveIncident,
  known: StoredIncident | undefined,
  now: number,
  names?: Names,
): IncidentResolution {
  if (known === undefined) return { kind: 'keep', reason: 'unknown_incident' }
  const target = command.kind === 'resolve_channel_incident' ? 'channel' : 'key'
  if (!isAbout(known, command)) return { kind: 'keep', reason: `about_another_${target}` }
  if (known.state === 'resolved') return { kind: 'keep', reason: 'resolved_before' }
  const [outcome, how] =
    command.kind === 'resolve_key_incident'
      ? [command.outcome, ENDS_OF_KEY[command.outcome]]
      : [endOf(command), ENDS_OF_CHANNEL[endOf(command)]]
  const change = resolveStandalone(known, how, command.requested_at, now, names)
  return { kind: 'resolve', reason: `${target}_${outcome}`, change }
}

function isAbout({ code, project_id, channel_id, key_id }: StoredIncident, command: ResolveIncident): boolean {
  if (project_id !== command.project_id) return false
  if (command.kind === 'resolve_key_incident') return code === 'KEY_EXPIRING' && key_id === command.key_id
  const expected = endOf(command) === 'enabled' ? 'CHANNEL_DISABLED' : 'CHANNEL_FAILING'
  return code === expected && channel_id === command.channel_id
}

function endOf({
  outcome,
}: Extract<ResolveIncident, { kind: 'resolve_channel_incident' }>): ChannelIncidentEnd | 'enabled' {
  return outcome ?? 'enabled'
}
