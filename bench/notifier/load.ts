import { alert } from '@backstop/channels/test'
import { type Alert, type DeliveryRequest, deliveryIdOf } from '@backstop/contracts'

/** Creates an alert like those of the reconciler, with the current time. */
export function benchAlert(id: string, projectId: string): Alert {
  return alert({ id, project: projectId, at: new Date().toISOString() })
}

/** Creates the delivery request that fan-out makes from an alert for one channel. */
export function benchRequest(id: string, projectId: string, channelId: string): DeliveryRequest {
  const delivery_id = deliveryIdOf(id, channelId)
  const alert = benchAlert(id, projectId)
  return { delivery_id, channel_id: channelId, project_id: projectId, attempt: 1, test: false, alert }
}
