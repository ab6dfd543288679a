import { type Alert, deliveryIdOf, type IncidentEvent, incidentAlertId, stormAlertId } from '@backstop/contracts'
import type { DeliveryProgress } from '../../delivery-record/delivery-store.ts'
import { isAboutIncident } from './ordering-key.ts'

/**
 * How to announce to a channel that an incident was acknowledged, resolved or opened again. Earlier alerts about the incident never come
 * later: a pending one is superseded. The reports about a storm follow the same rule: a later one is the "resolved" of each earlier one.
 */
export type IncidentOrder =
  | { kind: 'as_it_is'; reason: 'opened_was_delivered' | 'opened_did_not_go_here' }
  /** One message announces opening and resolution. `waitsFor`: see `SupersedeOrder`. */
  | { kind: 'supersede'; reason: 'opened_is_pending' | 'opened_ended_without_success'; waitsFor: number | null }
  | { kind: 'announces_both'; reason: 'opened_is_superseded' }

/** @param opened the recorded progress of the `incident.opened` delivery of the same incident to the same channel */
export function decideIncidentOrder(opened: DeliveryProgress | undefined): IncidentOrder {
  if (opened === undefined) return { kind: 'as_it_is', reason: 'opened_did_not_go_here' }
  switch (opened.state) {
    case 'delivered':
      return { kind: 'as_it_is', reason: 'opened_was_delivered' }
    case 'superseded':
      return { kind: 'announces_both', reason: 'opened_is_superseded' }
    case 'dead':
      return { kind: 'supersede', reason: 'opened_ended_without_success', waitsFor: null }
    case 'pending':
    case 'retrying':
      return { kind: 'supersede', reason: 'opened_is_pending', waitsFor: opened.next?.attempt ?? null }
    default:
      return opened.state satisfies never
  }
}

/**
 * The ids of the deliveries that are not sent any more once this alert is sent on the same channel: the earlier alerts about an incident, and
 * the earlier reports about a storm with the alerts about its bursts.
 */
export function precedingDeliveryIds(alert: Alert, channelId: string): string[] {
  return precedingAlertIds(alert).map(alertId => deliveryIdOf(alertId, channelId))
}

/** The id of the delivery of the same incident's opening to the same channel; undefined if the alert does not follow an opening. */
export function openingDeliveryId(alert: Alert, channelId: string): string | undefined {
  return followsOpening(alert) ? deliveryIdOf(openedAlertId(alert), channelId) : undefined
}

/** True for the alerts that follow the opening of their incident. */
export function followsOpening(alert: Alert): alert is FollowingAlert {
  return alert.event === 'incident.acknowledged' || alert.event === 'incident.resolved'
}

type FollowingAlert = Extract<Alert, { event: 'incident.acknowledged' | 'incident.resolved' }>

/** In the order in which an incident raises them. */
const INCIDENT_EVENTS = [
  'incident.opened',
  'incident.acknowledged',
  'incident.resolved',
] as const satisfies IncidentEvent[]

function precedingAlertIds(alert: Alert): string[] {
  if (isAboutIncident(alert)) {
    const { incident_id, reopened = 0 } = alert.data.incident
    const before = INCIDENT_EVENTS.slice(0, INCIDENT_EVENTS.indexOf(alert.event))
    const sinceOpened = before.map(event => incidentAlertId(incident_id, event, reopened))
    if (alert.event !== 'incident.opened' || reopened === 0) return sinceOpened
    return INCIDENT_EVENTS.map(event => incidentAlertId(incident_id, event, reopened - 1))
  }
  if (alert.event !== 'storm.reported') return []
  const { storm_id, report, bursts = [] } = alert.data.storm
  const reports = Array.from({ length: report - 1 }, (_, index) => stormAlertId(storm_id, index + 1))
  return [...bursts.map(({ incident_id }) => incidentAlertId(incident_id, 'incident.opened')), ...reports]
}

/** True if a later alert may have made the alert's delivery superfluous. */
export function canBeSuperseded(alert: Alert): boolean {
  return isAboutIncident(alert) || alert.event === 'storm.reported'
}

/** The alert for a channel that never received "opened": it announces the opening too. */
export function includeOpening(alert: Alert): Alert {
  if (!followsOpening(alert)) return alert
  return { ...alert, data: { ...alert.data, supersedes: openedAlertId(alert) } } as Alert
}

function openedAlertId({ data: { incident } }: FollowingAlert): string {
  return incidentAlertId(incident.incident_id, 'incident.opened', incident.reopened)
}
