import { withoutPersonalData } from '@backstop/channels'
import { type Alert, type DeliveryRequest, deliveryIdOf } from '@backstop/contracts'
import type { SubscribedChannel } from '../../channels/channel-store.ts'
import { isAboutIncident } from '../../incident-order/rules/ordering-key.ts'
import type { BurstMembership } from '../../storm/follow-burst.ts'
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
  membership: StormMembership | BurstMembership | undefined,
  history: AlertHistory,
): DeliveryRequest[] {
  const shown = withStorm(alert, membership)
  const leavesStorm = membership !== undefined && 'leavesStorm' in membership && membership.leavesStorm
  const forPrograms = { whole: shown, shareable: withoutPersonalData(shown) }
  const apart = leavesStorm ? withStormId(alert, null) : shown
  const forPeople = leavesStorm ? { whole: apart, shareable: withoutPersonalData(apart) } : forPrograms
  const showTo = ({ audience, showsPersonalData }: SubscribedChannel) => {
    const { whole, shareable } = audience === 'programs' ? forPrograms : forPeople
    return showsPersonalData ? whole : shareable
  }
  const meant = channels
    .filter(channel => channel.projectId === alert.project_id && isMeant(channel, alert, membership))
    .filter(channel => !isAboutItself(channel, alert))
    .filter(channel => isLetThrough(alert, channel, history))
  return meant.map(channel => ({
    delivery_id: deliveryIdOf(alert.alert_id, channel.channelId),
    channel_id: channel.channelId,
    project_id: alert.project_id,
    attempt: 1,
    test: false,
    alert: showTo(channel),
    ...(channel.audience === 'people' && meant.length > 1 ? { also_sent_to: namesOfOthers(meant, channel) } : {}),
  }))
}

/** A message names two channels, and says if there are more. */
const MOST_NAMES = 3

function namesOfOthers(channels: readonly SubscribedChannel[], { channelId }: SubscribedChannel): string[] {
  // One more than the names: it may be the channel itself.
  const candidates = channels.slice(0, MOST_NAMES + 1).filter(other => other.channelId !== channelId)
  return candidates.slice(0, MOST_NAMES).map(({ name }) => name)
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

/** An incident that was opened before its storm began is first shown without a storm. A burst always has its storm. */
function withStorm(alert: Alert, membership: StormMembership | undefined): Alert {
  if (membership === undefined || !isAboutIncident(alert)) return alert
  const isBeforeStorm = alert.event === 'incident.opened' && membership.alone && alert.data.incident.burst === undefined
  return withStormId(alert, isBeforeStorm ? null : membership.storm_id)
}

function withStormId(alert: Alert, storm_id: string | null): Alert {
  if (!isAboutIncident(alert)) return alert
  return { ...alert, data: { ...alert.data, incident: { ...alert.data.incident, storm_id } } } as Alert
}
