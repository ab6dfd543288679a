import { type Alert, deliveryIdOf, incidentAlertId } from '@backstop/contracts'
import type { DeliveryProgress } from '../../store/delivery-store.ts'

/**
 * What a channel gets of an incident that is resolved, so that "resolved" never comes before "opened" and nobody is told
 * that something is open which is not any more.
 */
export type IncidentOrder =
  | { kind: 'as_it_is'; reason: 'opened_was_delivered' | 'opened_did_not_go_here' }
  /** The message tells both. `waitsFor` as in SupersedeOrder. */
  | { kind: 'supersede'; reason: 'opened_is_pending' | 'opened_ended_without_success'; waitsFor: number | null }
  | { kind: 'announces_both'; reason: 'opened_is_superseded' }

/** @param opened what is recorded of the delivery of the same incident's incident.opened to the same channel */
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

/** The delivery whose message has to come before this one on the same channel; undefined where there is none. */
export function comesAfter(alert: Alert, channelId: string): string | undefined {
  if (alert.event !== 'incident.resolved') return undefined
  return deliveryIdOf(openedAlertId(alert), channelId)
}

/** The alert as it goes to a channel that never heard that the incident was open. */
export function announceBoth(alert: Alert): Alert {
  if (alert.event !== 'incident.resolved') return alert
  return { ...alert, data: { ...alert.data, supersedes: openedAlertId(alert) } }
}

function openedAlertId(alert: Extract<Alert, { event: 'incident.resolved' }>): string {
  return incidentAlertId(alert.data.incident.incident_id, 'incident.opened')
}
