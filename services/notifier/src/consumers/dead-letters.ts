import {
  AppError,
  type Bus,
  type Consumer,
  type IncomingMessage,
  type Logger,
  type MessageCodec,
  pauseAfter,
} from '@backstop/kit'
import { deadLetterDocument } from '../domain/dead-letter.ts'
import type { DeadLetterStore } from '../store/dead-letter-store.ts'
import type { DeliveryStore } from '../store/delivery-store.ts'

export interface DeadLetterConsumerOptions {
  readonly bus: Bus
  readonly codec: MessageCodec
  readonly deliveries: Pick<DeliveryStore, 'progressOf'>
  readonly deadLetters: DeadLetterStore
  readonly logger: Logger
  onFatal(error: unknown): void
}

/**
 * Keeps what was parked and is no delivery on record with an attempt: the list of deliveries shows the others, with their
 * attempts. Reads the dead-letter topic itself, so that whoever parks something need not know.
 */
export function createDeadLetterConsumer(options: DeadLetterConsumerOptions): Consumer {
  const { bus, deadLetters, logger, onFatal } = options
  const faults = new Map<number, number>()
  return bus.consumer({
    groupId: 'notifier.dead-letters',
    topics: ['deliveries.dead'],
    commit: 'taken',
    onFatal,
    async onBatch({ partition, messages }) {
      try {
        const letters = (await withoutDelivery(messages, options)).map(deadLetterDocument)
        await deadLetters.keep(letters)
        for (const { _id, topic, reason_code } of letters) {
          logger.warn({ dead_letter_id: _id, topic, reason: reason_code }, 'dead_letter.kept')
        }
        faults.delete(partition)
        return { taken: messages.length }
      } catch (error) {
        if (!(error instanceof AppError) || !error.retryable) throw error
        const count = (faults.get(partition) ?? 0) + 1
        faults.set(partition, count)
        logger.warn({ partition, messages: messages.length, error }, 'dead_letters.put_off')
        return { taken: 0, resumeAfterMs: pauseAfter(count) }
      }
    },
  })
}

async function withoutDelivery(
  messages: readonly IncomingMessage[],
  { codec, deliveries }: DeadLetterConsumerOptions,
): Promise<IncomingMessage[]> {
  const asked = await Promise.all(
    messages.map(async message => {
      const deliveryId = await deliveryIdIn(message, codec)
      return { message, deliveryId }
    }),
  )
  const known = await deliveries.progressOf(asked.flatMap(({ deliveryId }) => deliveryId ?? []))
  return asked.flatMap(({ message, deliveryId }) => {
    const state = deliveryId === undefined ? undefined : known.get(deliveryId)?.state
    // One that ended says so before its letter is written: one that is still pending could not be taken in.
    return state === undefined || state === 'pending' ? [message] : []
  })
}

/** The delivery that a letter asks for; undefined for one that is no delivery request. */
async function deliveryIdIn({ value }: IncomingMessage, codec: MessageCodec): Promise<string | undefined> {
  try {
    return (await codec.decode('delivery-request', value)).delivery_id
  } catch (error) {
    if (error instanceof AppError && error.retryable) throw error
    return undefined
  }
}
