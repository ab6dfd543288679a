import type { Producer } from '@backstop/kit/bus'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import { AppError } from '@backstop/kit/errors'
import { joinCalls } from '@backstop/kit/join-calls'
import type { Logger } from '@backstop/kit/logger'
import {
  createOutboxPublisher,
  createOutboxSweeper,
  type MessageEncoder,
  type OutboxSource,
  type PendingOutbox,
  type PublishedEntries,
} from '@backstop/kit/outbox'

export interface AnnouncerOptions {
  readonly source: OutboxSource
  readonly producer: Producer
  readonly encoder: MessageEncoder
  readonly clock: Clock
  readonly logger: Logger
}

/** Publishes what was written. The writes are stored with their messages, so callers do not wait for Kafka. */
export interface Announcer extends Periodic {
  announce(outbox: PendingOutbox): void
}

/** Beyond it, the sweeper publishes: Kafka is slower than the writes. */
const MAX_UNPUBLISHED = 5_000
/**
 * How long published entries stay in their documents, in milliseconds. The entries of several writes about one operation are removed with one
 * command. Shorter than the age of the entries that the sweeper publishes.
 */
const REMOVE_EVERY_MS = 500

/** Creates the announcer of one outbox source, and its sweeper. */
export function createAnnouncer({ source, producer, encoder, clock, logger }: AnnouncerOptions): Announcer {
  let published = new Map<string, string[]>()
  const remembering: OutboxSource = {
    ...source,
    async published(documents) {
      for (const { documentId, entryIds } of documents) {
        published.set(documentId, [...(published.get(documentId) ?? []), ...entryIds])
      }
    },
  }
  const publisher = createOutboxPublisher({ source: remembering, producer, encoder, logger })
  let isStopping = false
  let isKafkaUnavailable = false
  /** Concurrent writes share the send to Kafka. One send at a time, so that the messages about one operation keep their order. */
  const publish = joinCalls(
    async (outboxes: readonly PendingOutbox[]) => {
      // A stop waits for one send to an unavailable Kafka, not for many. The next process publishes the rest.
      if (isStopping && isKafkaUnavailable)
        throw new AppError('unavailable', 'Kafka does not answer while the process stops')
      try {
        await publisher.publish(outboxes)
        isKafkaUnavailable = false
      } catch (error) {
        isKafkaUnavailable = true
        throw error
      }
    },
    { maxRuns: 1 },
  )
  const unpublished = new Set<Promise<void>>()

  async function removePublished(): Promise<void> {
    const removed = Array.from(published, ([documentId, entryIds]): PublishedEntries => ({ documentId, entryIds }))
    published = new Map()
    try {
      await source.published(removed)
    } catch (error) {
      await remembering.published(removed)
      throw error
    }
  }
  const onFailure = (error: unknown) => logger.warn({ error }, 'ledger.published_not_removed')
  const remover = createPeriodic({ clock, pauseMs: REMOVE_EVERY_MS, run: removePublished, onFailure })
  const sweeper = createOutboxSweeper({
    source,
    publisher: createOutboxPublisher({ source, producer, encoder, logger }),
    clock,
    logger,
  })

  return {
    announce(outbox) {
      if (unpublished.size >= MAX_UNPUBLISHED) return
      const sent = publish([outbox])
        .catch(error => logger.warn({ error, document_id: outbox.documentId }, 'ledger.publish_failed'))
        .then(() => void unpublished.delete(sent))
      unpublished.add(sent)
    },
    start() {
      sweeper.start()
      remover.start()
    },
    async stop() {
      isStopping = true
      await Promise.all([sweeper.stop(), remover.stop(), ...unpublished])
      await removePublished().catch(onFailure)
    },
  }
}
