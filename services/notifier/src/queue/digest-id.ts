import { deterministicId } from '@backstop/contracts'
import type { DeliveryJob } from './delivery-job.ts'

/**
 * The id of a digest, recorded on each of its deliveries. A repeat with the same deliveries has the same id, so a mail
 * program can drop it. A part of a digest has another id: otherwise a mail program would drop the other parts.
 */
export function digestIdOf(jobs: readonly DeliveryJob[]): string {
  return deterministicId('delivery', 'digest', ...jobs.map(({ request }) => request.delivery_id).sort())
}
