/**
 * Documents that one service writes and others read. Each names its owner: nobody else writes that collection
 * (DESIGN, the table of services). Times are BSON dates.
 */
export type * from './admin-api.ts'
export type * from './ledger.ts'
export type * from './notifier.ts'
export type * from './reconciler.ts'

/** A secret as the secret box sealed it (guides: R3.1): never readable without the key-encryption key. */
export type SealedSecret = string

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

/** Owner: the deploy job. Known schema ids, so that a registry that is away stops nobody. */
export interface SchemaIdDocument {
  /** `<message type>/<sha256 of the schema>`, as `schemaKey` makes it. */
  _id: string
  schema_id: number
  message: string
  registered_at: Date
}
