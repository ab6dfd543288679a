/** An unpublished message, stored in the document that caused it until the broker has it. */
export interface OutboxEntry {
  /** The message id: deterministic, because consumers deduplicate by it. */
  id: string
  topic: string
  key: string
  /** The message, encoded when it is published. */
  message: unknown
  headers?: Record<string, string>
}

/** An outbox entry with its time of writing, in milliseconds since the epoch: a sweeper publishes old ones. */
export type TimedOutboxEntry = OutboxEntry & { at: number }
