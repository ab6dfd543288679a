import type { AuditEntry } from '../http/audit.ts'

/** Who made a request. The name is null if only the id is known; the id of a mail link is the tag of its address (recipientTag). */
export type AuditActor = NonNullable<AuditEntry['actor']>

/** One changed field of a document. */
export type AuditedField = NonNullable<AuditEntry['changes']>[number]

/** The fields of a row that the API shows in another form, or that only unreadable rows have. */
type ShownOtherwise = 'audit_id' | 'at' | 'last_at' | 'previous_at' | 'chained_at' | 'unsigned' | 'unreadable'

/**
 * One row for each change and for each refusal of an authenticated caller. Refusals of other callers, and those beyond a limit, share one row
 * for each minute, actor and error code. `AuditEntry` describes the fields that the API shows.
 */
export type AuditDocument = Omit<AuditEntry, ShownOtherwise> & {
  _id: string
  at: Date
  /** Refusals only: the time of the last request. */
  last_at?: Date
  /** True until the row is part of the hash chain. */
  unchained?: boolean
  /** The time of the previous row of the chain; null for the first one. It shows whether a missing row has expired. */
  previous_at?: Date | null
  /** When the row joined the chain. */
  chained_at?: Date
  /** True if the row joined the chain without a valid MAC of its writer. */
  unsigned?: true
}

/** The end of the hash chain of the audit. */
export interface AuditChainDocument {
  _id: 'head'
  /** 0 if there is no row yet. */
  sequence: number
  hash: string
  /** The time of the newest row; null if there is none or it is unknown. */
  at?: Date | null
  /** The first row that has a MAC, and since when rows get one. Older rows are only hashed. */
  signed_from?: { sequence: number; at: Date }
  /** `<key id>.<MAC>` of the other fields. Absent in releases before 0.3.0. */
  mac?: string
}
