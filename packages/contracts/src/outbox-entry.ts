/** A message that a document caused, kept in that document until the broker has it. */
export interface OutboxEntry {
  /** Deterministic: the message id that consumers deduplicate by. */
  id: string
  topic: string
  key: string
  /** The message, encoded when it is published. */
  message: unknown
  headers?: Record<string, string>
}

/** An outbox entry with the time at which it was written, in milliseconds since the epoch: a sweeper takes old ones. */
export type TimedOutboxEntry = OutboxEntry & { at: number }
