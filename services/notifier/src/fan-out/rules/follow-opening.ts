import { type Alert, DELIVERY_DAYS } from '@backstop/contracts'
import type { SubscribedChannel } from '../../channels/channel-store.ts'
import { followsOpening, openingDeliveryId } from '../../incident-order/rules/decide-order.ts'
import { judgeFilter } from './judge-filter.ts'

/** What happened to an alert and to the opening of its incident before fan-out. */
export interface AlertHistory {
  readonly isSilenced: boolean
  /** The ids of the deliveries of `incident.opened` that exist, as far as `openingsToRead` names them. */
  readonly openings: ReadonlySet<string>
}

/** An opening may wait this long in Kafka before its delivery is recorded. */
const RECORDED_AFTER_MS = 10 * 60_000
const KEPT_FOR_MS = DELIVERY_DAYS * 86_400_000

/**
 * True if neither filter nor silence keeps the alert from the channel. A channel that was told that an incident opened is told that it is
 * resolved, and a channel with a filter that was not told is not: facts, filter and silences may have changed since.
 */
export function isLetThrough(
  alert: Alert,
  channel: SubscribedChannel,
  { isSilenced, openings }: AlertHistory,
): boolean {
  const openingId = openingDeliveryId(alert, channel.channelId)
  if (openingId !== undefined && openings.has(openingId)) return true
  if (isSilenced) return false
  if (channel.filter !== null && channel.events.includes('incident.opened') && wouldShowOpening(alert)) return false
  return judgeFilter(alert, channel.filter).kind === 'passes'
}

/** The ids of the opening deliveries that decide about the alert. Only an alert that follows an opening needs any. */
export function openingsToRead(alert: Alert, channels: readonly SubscribedChannel[], isSilenced: boolean): string[] {
  if (!followsOpening(alert)) return []
  return channels
    .filter(({ projectId, filter }) => projectId === alert.project_id && (isSilenced || filter !== null))
    .map(({ channelId }) => openingDeliveryId(alert, channelId))
    .filter(id => id !== undefined)
}

/** True if a delivery of the incident's opening would be recorded by now and not have expired. */
function wouldShowOpening(alert: Alert): boolean {
  // The opening of an incident that was opened again is as young as that change.
  if (!followsOpening(alert) || (alert.data.incident.reopened ?? 0) > 0) return false
  const ageMs = Date.parse(alert.created_at) - Date.parse(alert.data.incident.opened_at)
  return ageMs >= RECORDED_AFTER_MS && ageMs < KEPT_FOR_MS
}
