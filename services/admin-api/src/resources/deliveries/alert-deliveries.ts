import { AlertDelivery, type DeliveryDocument } from '@backstop/contracts'
import { showDocument } from '../../rules/show-document.ts'
import type { ReadCollections } from '../../store/stores.ts'

/** The deliveries of some alerts of a project, the oldest first, each with its attempts. */
export async function readAlertDeliveries(
  { deliveries }: Pick<ReadCollections, 'deliveries'>,
  project_id: string,
  alertIds: readonly string[],
): Promise<AlertDelivery[]> {
  const sent = await deliveries.findAll({ alert_id: { in: alertIds }, project_id })
  return sent.toSorted((a, b) => a.created_at.getTime() - b.created_at.getTime()).map(showAlertDelivery)
}

function showAlertDelivery(delivery: DeliveryDocument): AlertDelivery {
  return showDocument(AlertDelivery, delivery, {
    delivery_id: delivery._id,
    attempts: delivery.attempts.map(attempt => showDocument(AlertDelivery.shape.attempts.element, attempt, {})),
  })
}
