import { HEADERS } from '@backstop/contracts'
import type { Bus, Consumer, IncomingMessage } from '@backstop/kit/bus'
import type { Clock } from '@backstop/kit/clock'
import { isRetryable } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import { PartitionPauses } from '@backstop/kit/retry'
import { type AttemptOutcome, outcomeWithoutAttempt } from '../delivery/rules/outcome-of-attempt.ts'
import type { DeliveryStore } from '../delivery-record/delivery-store.ts'
import type { DeadLetterStore } from './dead-letter-store.ts'
import { deadLetterDocument, decideDeadLetter, isInInbox, unusableText } from './rules/dead-letter.ts'

export interface DeadLetterConsumerOptions {
  readonly bus: Bus
  readonly clock: Clock
  readonly deliveries: Pick<DeliveryStore, 'progressOf' | 'record'>
  readonly deadLetters: DeadLetterStore
  readonly logger: Logger
  onFatal(error: unknown): void
}

/**
 * Stores the dead-lettered messages of all services, except notifications, which the inbox has, and messages of recorded
 * deliveries. If the message that a delivery waits for is unusable, the delivery ends. Reads the dead-letter topics, so
 * that no producer of dead letters has to write to the database as well.
 */
export function createDeadLetterConsumer(options: DeadLetterConsumerOptions): Consumer {
  const { bus, deadLetters, logger, onFatal } = options
  const pauses = new PartitionPauses()
  return bus.consumer({
    groupId: 'notifier.dead-letters',
    topics: ['deliveries.dead', 'inbound.dead'],
    commit: 'accepted',
    onFatal,
    async onBatch(batch) {
      const { partition, messages } = batch
      try {
        const others = messages.filter(message => !isInInbox(message))
        const letters = (await endUnusableDeliveries(others, options)).map(deadLetterDocument)
        await deadLetters.keep(letters)
        for (const { _id, topic, reason_code } of letters) {
          logger.warn({ dead_letter_id: _id, topic, reason: reason_code }, 'dead_letter.kept')
        }
        pauses.succeeded(batch)
        return { accepted: messages.length }
      } catch (error) {
        if (!isRetryable(error)) throw error
        logger.warn({ partition, messages: messages.length, error }, 'dead_letters.deferred')
        return { accepted: 0, resumeAfterMs: pauses.failed(batch) }
      }
    },
  })
}

/** Ends the deliveries that wait for one of these messages. @returns the messages to store as dead letters */
async function endUnusableDeliveries(
  messages: readonly IncomingMessage[],
  { deliveries, clock, logger }: DeadLetterConsumerOptions,
): Promise<IncomingMessage[]> {
  const known = await deliveries.progressOf(messages.flatMap(({ headers }) => headers[HEADERS.deliveryId] ?? []))
  const kept: IncomingMessage[] = []
  const ended: AttemptOutcome[] = []
  for (const message of messages) {
    const { headers, timestampMs: deadLetteredAtMs } = message
    const deliveryId = headers[HEADERS.deliveryId] ?? ''
    const decision = decideDeadLetter(
      { attempt: Number(headers[HEADERS.attempt] ?? 0), deadLetteredAtMs },
      known.get(deliveryId),
    )
    if (decision.kind === 'keep') kept.push(message)
    if (decision.kind !== 'end_delivery') continue
    const { [HEADERS.errorCode]: code, [HEADERS.errorMessage]: error } = headers
    const end = { reason: decision.reason, text: unusableText(code) }
    ended.push(outcomeWithoutAttempt({ deliveryId, attempt: decision.attempt }, end, clock.now()))
    logger.warn({ delivery_id: deliveryId, attempt: decision.attempt, reason: code, error }, 'delivery.unusable')
  }
  // `record` skips a delivery that was requeued meanwhile: it waits for a new message and needs no dead letter.
  await deliveries.record(ended)
  return kept
}
