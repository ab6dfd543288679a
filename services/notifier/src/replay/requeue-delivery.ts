import type { DeliveryDocument, DeliveryRequest } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import type { Clock } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { MessageCodec } from '@backstop/kit/registry'
import { requeuedMessage } from '../retry/delivery-messages.ts'
import type { RequeueOrder, RequeueStore } from './requeue-store.ts'
import { decideRequeue, type RequeueRequest } from './rules/decide-requeue.ts'

export interface RequeuerOptions {
  readonly requeues: RequeueStore
  readonly producer: Producer
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly logger: Logger
}

export interface RequeueBatchRequest extends RequeueRequest {
  /** True to ignore a pause of the channel, too. False for a replay. */
  readonly atOnce: boolean
}

/**
 * Attempts deliveries now because a person requested it: records the request first, then produces the messages. After a
 * crash between the two steps, the same request produces again.
 * @returns the number of produced messages
 * @throws AppError `unavailable`: make the same request again
 */
export async function requeue(
  requested: RequeueBatchRequest,
  deliveries: readonly DeliveryDocument[],
  { requeues, producer, codec, clock, logger }: RequeuerOptions,
): Promise<number> {
  const orders: RequeueOrder[] = []
  const attempts = new Map<string, number>()
  for (const delivery of deliveries) {
    const decision = decideRequeue(requested, delivery)
    const ids = { delivery_id: delivery._id, channel_id: delivery.channel_id, requested_by: requested.requestId }
    if (decision.kind === 'refuse') {
      logger.info({ ...ids, reason: decision.reason }, 'delivery.not_requeued')
      continue
    }
    const { attempt, reason } = decision
    logger.info({ ...ids, attempt, reason }, 'delivery.requeued')
    attempts.set(delivery._id, attempt)
    if (decision.kind === 'produce_again') continue
    const { waitsFor, ladderFrom } = decision
    const atMs = clock.now()
    orders.push({
      deliveryId: delivery._id,
      requestId: requested.requestId,
      attempt,
      waitsFor,
      ladderFrom: { attempt: ladderFrom.attempt, at: ladderFrom.at ?? new Date(atMs) },
      atMs,
    })
  }
  const refused = await requeues.requeue(orders)
  // A refused delivery was attempted or ended since it was read, so it needs no message.
  const outgoing = deliveries.flatMap(delivery => {
    const attempt = attempts.get(delivery._id)
    if (attempt === undefined || refused.has(delivery._id)) return []
    return [requeuedMessage(codec, requestOf(delivery, attempt), requested.atOnce)]
  })
  if (outgoing.length > 0) await producer.send(outgoing)
  return outgoing.length
}

function requestOf(delivery: DeliveryDocument, attempt: number): DeliveryRequest {
  const { _id: delivery_id, channel_id, project_id, alert } = delivery
  return { delivery_id, channel_id, project_id, attempt, test: false, alert }
}
