import {
  type ChannelIncidentEnd,
  type Command,
  type Names,
  type StoredIncident,
  showableText,
} from '@backstop/contracts'
import { type IncidentChange, type IncidentResolution, openStandalone, resolveStandalone } from './standalone.ts'

export type OpenChannelIncident = Extract<Command, { kind: 'open_channel_incident' }>
export type ResolveChannelIncident = Extract<Command, { kind: 'resolve_channel_incident' }>
/** The commands about the incident of a channel that delivers nothing, or was disabled. */
export interface FailingChannelCommand {
  readonly open: OpenChannelIncident
  readonly resolve: ResolveChannelIncident
}

/** The incident of a channel that delivers nothing, or was disabled after failures. It tells people that alerts do not arrive there. */
export function openChannelIncident(command: OpenChannelIncident, now: number, names?: Names): IncidentChange {
  const isFailing = command.fault === 'failing'
  const what = isFailing ? 'delivers nothing' : 'was disabled'
  const facts = {
    incident_id: command.incident_id,
    project_id: command.project_id,
    code: isFailing ? 'CHANNEL_FAILING' : 'CHANNEL_DISABLED',
    summary: showableText(`The alert channel "${command.channel_name}" ${what}: ${command.reason}`),
    channel_id: command.channel_id,
    opened_at: command.requested_at,
  } as const
  return openStandalone(facts, now, names)
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
  const change = resolveStandalone(known, { ending: ENDS[outcome], at: command.requested_at }, now, names)
  return { kind: 'resolve', reason: `channel_${outcome}`, change }
}
