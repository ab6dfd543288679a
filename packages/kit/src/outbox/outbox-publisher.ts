/**
 * The outbox: a message is stored in the document that causes it, in the same write as the change, and stays there
 * until the broker has acknowledged it. After a crash the sweeper publishes it. Publishing twice is harmless, because
 * the id is deterministic and consumers deduplicate by it.
 */
import {
  HEADERS,
  MESSAGES,
  type MessageName,
  type MessageOf,
  type OutboxEntry,
  type TopicName,
} from '@backstop/contracts'
import type { OutgoingMessage, Producer } from '../bus/bus.ts'
import { AppError } from '../errors.ts'
import type { Logger } from '../logger.ts'

/** The unpublished entries of one document. */
export interface PendingOutbox {
  readonly documentId: string
  readonly entries: readonly OutboxEntry[]
}

/** Port to the documents with outboxes. Each collection with outboxes has its own implementation. */
export interface OutboxSource {
  /**
   * Finds documents with an entry written before `writtenBefore`, and returns all their entries in the order of
   * writing.
   * @param writtenBefore milliseconds since the epoch
   */
  pending(writtenBefore: number, limit: number): Promise<readonly PendingOutbox[]>
  /** Removes published entries. Entries added in the meantime stay, and missing entries are not an error. */
  published(documents: readonly PublishedEntries[]): Promise<void>
}

export interface PublishedEntries {
  readonly documentId: string
  readonly entryIds: readonly string[]
}

export interface OutboxPublisher {
  /**
   * Sends all entries, waits for the broker's acknowledgement, then removes them from their documents.
   * @returns the number of documents with an entry that cannot be published; the entry stays and is logged
   * @throws AppError `unavailable` if the broker or the store is unavailable: the sweeper publishes the entries later
   */
  publish(outboxes: readonly PendingOutbox[]): Promise<{ stuck: number }>
}

export interface OutboxPublisherOptions {
  readonly source: OutboxSource
  readonly producer: Producer
  readonly encoder: MessageEncoder
  readonly logger: Logger
}

/** The part of the message codec that an outbox needs. */
export interface MessageEncoder {
  encode<N extends MessageName>(name: N, message: MessageOf<N>): Buffer
}

interface EncodedOutbox {
  readonly outbox: PendingOutbox
  readonly entryIds: readonly string[]
  readonly messages: readonly OutgoingMessage[]
}

/** Publishes outboxes of one source through one producer. */
export function createOutboxPublisher(options: OutboxPublisherOptions): OutboxPublisher {
  const { source, producer, encoder, logger } = options

  async function sendAll(encoded: readonly EncodedOutbox[]): Promise<void> {
    await producer.send(encoded.flatMap(({ messages }) => messages))
    await source.published(
      encoded.map(({ outbox, entryIds }) => ({
        documentId: outbox.documentId,
        entryIds,
      })),
    )
  }

  /**
   * Encodes each entry separately, so that an entry that cannot be encoded does not block the others of its document.
   */
  function encodeOutbox(outbox: PendingOutbox): EncodedOutbox {
    const encoded = outbox.entries.flatMap(entry => {
      try {
        return [{ id: entry.id, message: toMessage(entry, encoder) }]
      } catch (error) {
        logger.error({ error, document_id: outbox.documentId, entry_id: entry.id }, 'outbox.stuck')
        return []
      }
    })
    return { outbox, entryIds: encoded.map(({ id }) => id), messages: encoded.map(({ message }) => message) }
  }

  return {
    async publish(outboxes) {
      const filled = outboxes.filter(outbox => outbox.entries.length > 0)
      const all = filled.map(encodeOutbox)
      const encoded = all.filter(({ messages }) => messages.length > 0)
      const unencodable = all.filter(({ outbox, messages }) => messages.length < outbox.entries.length).length
      if (encoded.length === 0) return { stuck: unencodable }
      try {
        await sendAll(encoded)
        return { stuck: unencodable }
      } catch (error) {
        if (!isMessageError(error)) throw error
      }
      // The broker refuses one entry (too large): send each document separately, so that this entry blocks no other
      // document.
      let sent = 0
      for (const item of encoded) {
        try {
          await sendAll([item])
          sent++
        } catch (error) {
          if (!isMessageError(error)) throw error
          logger.error({ error, document_id: item.outbox.documentId }, 'outbox.stuck')
        }
      }
      return { stuck: filled.length - sent }
    },
  }
}

function isMessageError(error: unknown): boolean {
  return error instanceof AppError && error.code === 'message_invalid'
}

function toMessage(entry: OutboxEntry, encoder: MessageEncoder): OutgoingMessage {
  const topic = entry.topic as TopicName
  const name = MESSAGE_OF_TOPIC.get(topic)
  if (name === undefined) {
    throw new AppError('message_invalid', `Outbox entry ${entry.id} names "${entry.topic}", which carries no message`)
  }
  return {
    topic,
    key: entry.key,
    value: encoder.encode(name, entry.message as MessageOf<typeof name>),
    headers: { ...entry.headers, [HEADERS.messageId]: entry.id },
  }
}

/** Each topic has one message type, so the entry's topic determines its encoding. */
const MESSAGE_OF_TOPIC = new Map<TopicName, MessageName>(
  Object.entries(MESSAGES).flatMap(([name, { topics }]) =>
    topics.map(topic => [topic, name as MessageName] as [TopicName, MessageName]),
  ),
)
