/** An unpublished message. It is stored in the document that caused it until the broker acknowledges it. */
export interface OutboxEntry {
  /** The message id. It is deterministic, because consumers recognise a repeat by it. */
  id: string
  topic: string
  key: string
  /** The message, encoded when it is published. */
  message: unknown
  headers?: Record<string, string>
}

/** An outbox entry with the time when it was written, in milliseconds since the epoch. A sweeper publishes old entries. */
export type TimedOutboxEntry = OutboxEntry & { at: number }
