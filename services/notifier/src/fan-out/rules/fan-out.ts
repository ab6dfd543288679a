import { type Alert, type DeliveryRequest, deliveryIdOf } from '@backstop/contracts'

/** What fan-out has to know of a channel. */
export interface Listener {
  readonly channelId: string
  readonly projectId: string
  readonly events: readonly string[]
}

/**
 * One delivery for each channel that chose the alert's event. The same alert and channel always give the same delivery
 * id, so an alert that is fanned out twice is delivered once.
 * @param listeners the channels that are switched on of (at least) the alert's project
 */
export function fanOut(alert: Alert, listeners: readonly Listener[]): DeliveryRequest[] {
  return listeners
    .filter(listener => listener.projectId === alert.project_id && listener.events.includes(alert.event))
    .map(listener => ({
      delivery_id: deliveryIdOf(alert.alert_id, listener.channelId),
      channel_id: listener.channelId,
      project_id: alert.project_id,
      attempt: 1,
      test: false,
      alert,
    }))
}
