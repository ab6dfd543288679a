import {
  type ChannelHealthDocument,
  type ChannelIncidentEnd,
  type Command,
  deterministicId,
  isoTime,
  type TimedOutboxEntry,
} from '@backstop/contracts'
import { type ChannelIdentity, toOutboxEntry } from './channel-health.ts'

/** How long a channel may deliver nothing before the other channels of its project are informed, in milliseconds. */
export const NOT_DELIVERING_MS = 15 * 60_000

export type FailingVerdict =
  | { kind: 'open'; reason: 'reaches_nobody' | 'nothing_delivered'; text: string }
  | { kind: 'resolve'; reason: ChannelIncidentEnd }
  | { kind: 'goes_on'; reason: 'works' | 'not_for_long' | 'known' | 'gets_no_alerts' }

/** What decides whether a channel gets alerts at all. */
interface AlertedChannel {
  readonly enabled: boolean
  readonly deleted: boolean
}

type FailingHealth = Pick<
  ChannelHealthDocument,
  | 'disabled_at'
  | 'undelivered_since'
  | 'unreached'
  | 'failing_incident_id'
  | 'last_success_at'
  | 'last_failure_at'
  | 'last_error'
>

/**
 * Decides whether a channel that delivers nothing gets an incident, or its incident ends. A channel that reaches nobody
 * gets it at once.
 * @param channel undefined if the channel does not exist
 */
export function judgeFailing(
  health: FailingHealth,
  channel: AlertedChannel | undefined,
  nowMs: number,
): FailingVerdict {
  const end = endOf(health, channel)
  if (health.failing_incident_id != null) {
    return end === undefined ? { kind: 'goes_on', reason: 'known' } : { kind: 'resolve', reason: end }
  }
  if (end !== undefined) {
    const hasNoFault = end === 'recovered' || end === 'cleared'
    return { kind: 'goes_on', reason: hasNoFault ? 'works' : 'gets_no_alerts' }
  }
  const { unreached, undelivered_since: since, last_error: error } = health
  if (unreached !== undefined) {
    const text = `None of its addresses gets mail since ${unreached.since.toISOString()}: ${unreached.reason}`
    return { kind: 'open', reason: 'reaches_nobody', text }
  }
  if (since == null || nowMs - since.getTime() < NOT_DELIVERING_MS) return { kind: 'goes_on', reason: 'not_for_long' }
  const newest = error === null ? '' : `. The newest failure: ${error}`
  return {
    kind: 'open',
    reason: 'nothing_delivered',
    text: `No alert has arrived there since ${since.toISOString()}${newest}`,
  }
}

/** Why the channel needs no incident about its failures; undefined if it delivers nothing. */
function endOf(
  { disabled_at, undelivered_since, unreached, last_success_at, last_failure_at }: FailingHealth,
  channel: AlertedChannel | undefined,
): ChannelIncidentEnd | undefined {
  if (channel === undefined || channel.deleted) return 'deleted'
  if (!channel.enabled) return 'switched_off'
  // Another incident reports it.
  if (disabled_at !== null) return 'disabled'
  if (undelivered_since != null || unreached !== undefined) return undefined
  const hasRecovered = last_success_at !== null && last_success_at >= (last_failure_at ?? last_success_at)
  return hasRecovered ? 'recovered' : 'cleared'
}

/** The change of a channel's incident with the command to the owner of incidents, stored in one write. */
export interface FailingOrder {
  readonly kind: 'open' | 'resolve'
  readonly channelId: string
  readonly incidentId: string
  readonly entry: TimedOutboxEntry
}

export function openFailing(
  { channelId, projectId, name }: ChannelIdentity,
  reason: string,
  atMs: number,
): FailingOrder {
  const at = isoTime(atMs)
  const incidentId = deterministicId('incident', 'channel_failing', channelId, at)
  const command: Command = {
    command_id: deterministicId('command', 'open_channel_incident', incidentId),
    project_id: projectId,
    requested_at: at,
    kind: 'open_channel_incident',
    incident_id: incidentId,
    channel_id: channelId,
    channel_name: name,
    reason,
    fault: 'failing',
  }
  return { kind: 'open', channelId, incidentId, entry: toOutboxEntry(command, channelId, atMs) }
}

export function resolveFailing(
  { channelId, projectId }: Pick<ChannelIdentity, 'channelId' | 'projectId'>,
  incidentId: string,
  outcome: ChannelIncidentEnd,
  atMs: number,
): FailingOrder {
  const command: Command = {
    command_id: deterministicId('command', 'resolve_channel_incident', incidentId),
    project_id: projectId,
    requested_at: isoTime(atMs),
    kind: 'resolve_channel_incident',
    incident_id: incidentId,
    channel_id: channelId,
    outcome,
  }
  return { kind: 'resolve', channelId, incidentId, entry: toOutboxEntry(command, channelId, atMs) }
}
