import { type Alert, deliveryIdOf, incidentAlertId, stormAlertId } from '@backstop/contracts'
import type { DeliveryProgress } from '../../store/delivery-store.ts'

/**
 * How to announce a resolved incident to a channel. "Resolved" never comes before "opened", and an incident is never
 * announced as open after its resolution. The reports about a storm follow the same rule: a later one is the "resolved" of each earlier one.
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
 * The ids of the deliveries that are not sent any more once this alert is sent on the same channel: the opening of an incident, and the earlier
 * reports about a storm.
 */
export function precedingDeliveryIds(alert: Alert, channelId: string): string[] {
  return precedingAlertIds(alert).map(alertId => deliveryIdOf(alertId, channelId))
}

/** The id of the delivery of the same incident's opening to the same channel; undefined if the alert is no resolution. */
export function openingDeliveryId(alert: Alert, channelId: string): string | undefined {
  return alert.event === 'incident.resolved' ? deliveryIdOf(openedAlertId(alert), channelId) : undefined
}

function precedingAlertIds(alert: Alert): string[] {
  if (alert.event === 'incident.resolved') return [openedAlertId(alert)]
  if (alert.event !== 'storm.reported') return []
  const { storm_id, report } = alert.data.storm
  return Array.from({ length: report - 1 }, (_, index) => stormAlertId(storm_id, index + 1))
}

/** True if a later alert may have made the alert's delivery superfluous. */
export function canBeSuperseded({ event }: Alert): boolean {
  return event === 'incident.opened' || event === 'storm.reported'
}

/** The alert for a channel that never received "opened": it announces opening and resolution. */
export function includeOpening(alert: Alert): Alert {
  if (alert.event !== 'incident.resolved') return alert
  return { ...alert, data: { ...alert.data, supersedes: openedAlertId(alert) } }
}

function openedAlertId(alert: Extract<Alert, { event: 'incident.resolved' }>): string {
  return incidentAlertId(alert.data.incident.incident_id, 'incident.opened')
}
