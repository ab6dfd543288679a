import { type Alert, deliveryIdOf, incidentAlertId } from '@backstop/contracts'
import type { DeliveryProgress } from '../../store/delivery-store.ts'

/**
 * How to announce a resolved incident to a channel. "Resolved" never comes before "opened", and an incident is never
 * announced as open after its resolution.
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

/** The id of the delivery that must be sent before this alert on the same channel; undefined if there is none. */
export function precedingDeliveryId(alert: Alert, channelId: string): string | undefined {
  if (alert.event !== 'incident.resolved') return undefined
  return deliveryIdOf(openedAlertId(alert), channelId)
}

/** The alert for a channel that never received "opened": it announces opening and resolution. */
export function includeOpening(alert: Alert): Alert {
  if (alert.event !== 'incident.resolved') return alert
  return { ...alert, data: { ...alert.data, supersedes: openedAlertId(alert) } }
}

function openedAlertId(alert: Extract<Alert, { event: 'incident.resolved' }>): string {
  return incidentAlertId(alert.data.incident.incident_id, 'incident.opened')
}
