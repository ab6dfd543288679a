import { withoutPersonalData } from '@backstop/channels'
import { type Alert, type DeliveryRequest, deliveryIdOf } from '@backstop/contracts'
import type { SubscribedChannel } from '../../channels/channel-store.ts'
import { followsOpening } from '../../incident-order/rules/decide-order.ts'
import type { StormMembership } from '../../storm/record-members.ts'
import { type AlertHistory, isLetThrough } from './follow-opening.ts'

/**
 * Creates one delivery for each channel that subscribes to the alert's event, unless filter or silence keeps the alert from it. The delivery id
 * is derived from alert and channel, so an alert that is fanned out twice is delivered once. Channels for people get the
 * reports about a storm instead of the alerts about its actions.
 * @param channels enabled channels of the alert's project; channels of other projects are ignored
 * @param membership the storm of the alert's incident; undefined if the incident is not recorded for storms
 */
export function fanOut(
  alert: Alert,
  channels: readonly SubscribedChannel[],
  membership: StormMembership | undefined,
  history: AlertHistory,
): DeliveryRequest[] {
  const shown = withStorm(alert, membership)
  const shareable = withoutPersonalData(shown)
  return channels
    .filter(channel => channel.projectId === alert.project_id && isMeant(channel, alert, membership))
    .filter(channel => !isAboutItself(channel, alert))
    .filter(channel => isLetThrough(alert, channel, history))
    .map(channel => ({
      delivery_id: deliveryIdOf(alert.alert_id, channel.channelId),
      channel_id: channel.channelId,
      project_id: alert.project_id,
      attempt: 1,
      test: false,
      alert: channel.showsPersonalData ? shown : shareable,
    }))
}

function isMeant(
  { events, audience }: SubscribedChannel,
  alert: Alert,
  membership: StormMembership | undefined,
): boolean {
  if (alert.event === 'storm.reported') {
    const isAcknowledgement = alert.data.storm.cause === 'acknowledged'
    return (
      audience === 'people' &&
      events.includes('incident.opened') &&
      (!isAcknowledgement || events.includes('incident.acknowledged'))
    )
  }
  return events.includes(alert.event) && (audience === 'programs' || membership === undefined || membership.alone)
}

/** A channel that delivers nothing cannot report that. */
function isAboutItself({ channelId }: SubscribedChannel, { data }: Alert): boolean {
  return 'incident' in data && data.incident.channel_id === channelId
}

/** An incident that was opened before its storm began is first shown without a storm. */
function withStorm(alert: Alert, membership: StormMembership | undefined): Alert {
  if (membership === undefined) return alert
  if (alert.event === 'incident.opened') {
    const storm_id = membership.alone ? null : membership.storm_id
    return { ...alert, data: { ...alert.data, incident: { ...alert.data.incident, storm_id } } }
  }
  if (!followsOpening(alert)) return alert
  const { storm_id } = membership
  return { ...alert, data: { ...alert.data, incident: { ...alert.data.incident, storm_id } } } as Alert
}
