import type { ChannelHealthDocument, ChannelIncidentEnd } from '@backstop/contracts'
import {
  type ChannelIdentity,
  type IncidentOrder,
  openChannelIncident,
  resolveChannelIncident,
} from './incident-commands.ts'

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
export interface FailingOrder extends IncidentOrder {
  readonly kind: 'open' | 'resolve'
  readonly channelId: string
}

export function openFailing(channel: ChannelIdentity, reason: string, atMs: number): FailingOrder {
  return { kind: 'open', channelId: channel.channelId, ...openChannelIncident(channel, 'failing', reason, atMs) }
}

export function resolveFailing(
  channel: Pick<ChannelIdentity, 'channelId' | 'projectId'>,
  incidentId: string,
  outcome: ChannelIncidentEnd,
  atMs: number,
): FailingOrder {
  const { channelId } = channel
  return { kind: 'resolve', channelId, ...resolveChannelIncident(channel, incidentId, atMs, outcome) }
}
