import { withoutPersonalData } from '@backstop/channels'
import { type Alert, type ChannelFilter, type DeliveryRequest, deliveryIdOf } from '@backstop/contracts'
import { judgeFilter } from './judge-filter.ts'

/** The fields of a channel that fan-out needs. */
export interface SubscribedChannel {
  readonly channelId: string
  readonly projectId: string
  readonly events: readonly string[]
  /** Limits the alerts of the channel; null for every alert of its events. */
  readonly filter: ChannelFilter | null
  readonly showsPersonalData: boolean
}

/**
 * Creates one delivery for each channel that subscribes to the alert's event and whose filter it passes. The delivery id is derived from alert and
 * channel, so an alert that is fanned out twice is delivered once.
 * @param channels enabled channels of the alert's project; channels of other projects are ignored
 */
export function fanOut(alert: Alert, channels: readonly SubscribedChannel[]): DeliveryRequest[] {
  const shareable = withoutPersonalData(alert)
  return channels
    .filter(channel => channel.projectId === alert.project_id && channel.events.includes(alert.event))
    .filter(channel => judgeFilter(alert, channel.filter).kind === 'passes')
    .map(channel => ({
      delivery_id: deliveryIdOf(alert.alert_id, channel.channelId),
      channel_id: channel.channelId,
      project_id: alert.project_id,
      attempt: 1,
      test: false,
      alert: channel.showsPersonalData ? alert : shareable,
    }))
}
