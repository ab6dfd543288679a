import { HEADERS } from '@backstop/contracts'
import {
  type Bus,
  type Clock,
  type Consumer,
  type IncomingMessage,
  isRetryable,
  type Logger,
  PartitionPauses,
} from '@backstop/kit'
import { type AttemptOutcome, outcomeWithoutAttempt } from '../delivery/rules/outcome-of-attempt.ts'
import type { DeadLetterStore } from '../store/dead-letter-store.ts'
import type { DeliveryStore } from '../store/delivery-store.ts'
import { deadLetterDocument, decideLetter, unusableText } from './rules/dead-letter.ts'

export interface DeadLetterConsumerOptions {
  readonly bus: Bus
  readonly clock: Clock
  readonly deliveries: Pick<DeliveryStore, 'progressOf' | 'record'>
  readonly deadLetters: DeadLetterStore
  readonly logger: Logger
  onFatal(error: unknown): void
}

/**
 * Keeps what was parked and is no delivery on record: the list of deliveries shows the others. A delivery whose message could
 * not be used is ended, so that it does not wait for ever for what will not come. Reads the dead-letter topic itself, so that
 * whoever parks something need not know.
 */
export function createDeadLetterConsumer(options: DeadLetterConsumerOptions): Consumer {
  const { bus, deadLetters, logger, onFatal } = options
  const pauses = new PartitionPauses()
  return bus.consumer({
    groupId: 'notifier.dead-letters',
    topics: ['deliveries.dead'],
    commit: 'accepted',
    onFatal,
    async onBatch(batch) {
      const { partition, messages } = batch
      try {
        const letters = (await sortOut(messages, options)).map(deadLetterDocument)
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

/** What of them is kept as a letter; ends the deliveries that wait for one of the others. */
async function sortOut(
  messages: readonly IncomingMessage[],
  { deliveries, clock, logger }: DeadLetterConsumerOptions,
): Promise<IncomingMessage[]> {
  const known = await deliveries.progressOf(messages.flatMap(({ headers }) => headers[HEADERS.deliveryId] ?? []))
  const kept: IncomingMessage[] = []
  const ended: AttemptOutcome[] = []
  for (const message of messages) {
    const { headers, timestampMs: parkedAtMs } = message
    const deliveryId = headers[HEADERS.deliveryId] ?? ''
    const fate = decideLetter({ attempt: Number(headers[HEADERS.attempt] ?? 0), parkedAtMs }, known.get(deliveryId))
    if (fate.kind === 'keep') kept.push(message)
    if (fate.kind !== 'end_delivery') continue
    const { [HEADERS.errorCode]: code, [HEADERS.errorMessage]: error } = headers
    const end = { reason: fate.reason, text: unusableText(code) }
    ended.push(outcomeWithoutAttempt({ deliveryId, attempt: fate.attempt }, end, clock.now()))
    logger.warn({ delivery_id: deliveryId, attempt: fate.attempt, reason: code, error }, 'delivery.unusable')
  }
  // One that has moved on meanwhile was asked for anew: it needs no letter.
  await deliveries.record(ended)
  return kept
}
