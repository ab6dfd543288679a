/** Who made a request. The name is null if only the id is known. */
export interface AuditActor {
  /** mail_link: an unsubscribe link. The id is the tag of its address (see recipientTag). */
  kind: 'key' | 'person' | 'mail_link'
  id: string
  name: string | null
}

/** One changed field of a document. */
export interface AuditedField {
  /** The id of the changed document. */
  resource: string
  field: string
  /** The value before the change; null if there was none. Of secrets only a fingerprint. */
  from: unknown
  to: unknown
}

/**
 * One row for each change and for each refusal of an authenticated caller. Refusals of other callers, and those beyond a limit, share one row
 * for each minute, actor and error code.
 */
export interface AuditDocument {
  _id: string
  at: Date
  key_id: string | null
  /** The key or person of the request; null if it is unknown. */
  actor?: AuditActor | null
  /** The session of the request; null if it was made with a key. */
  session_id?: string | null
  /** The action that was done; for refusals `refused.` and the error code. */
  action: string
  /** Id of the changed resource; for refusals the operationId of the first request. */
  target: string
  project_id: string | null
  /** Null if the change was made without a request. */
  request_id: string | null
  address: string | null
  /** True until the row is part of the hash chain. */
  unchained?: boolean
  /** The place in the hash chain, from 1. */
  sequence?: number
  /** The hash of the previous row of the chain; empty for the first one. */
  previous_hash?: string
  /** SHA-256 of `previous_hash` and the row. */
  hash?: string
  /**
   * `<key id>.<MAC>` with a key that is derived from SECRET_KEYS: until the row joins the chain of the row as its writer made it, afterwards also
   * of its place in the chain. Absent in rows of releases before 0.3.0.
   */
  mac?: string
  /** The time of the previous row of the chain; null for the first one. It shows whether a missing row has expired. */
  previous_at?: Date | null
  /** When the row joined the chain. */
  chained_at?: Date
  /** True if the row joined the chain without a valid MAC of its writer. */
  unsigned?: true
  /** What was changed, from which value to which. Absent for refusals. */
  changes?: AuditedField[]
  /** Erasures of personal data only: the numbers of cases and raw bodies. */
  erased?: { cases: number; bodies: number }
  /** Refusals only: the number of refused requests that the row stands for. */
  count?: number
  /** Refusals only: the time of the last request. */
  last_at?: Date
  /** Refusals only: the operationIds that were called, at most ten. */
  operations?: string[]
  /** Refusals only: the first characters of an unknown key. */
  key_hint?: string | null
  /** Recovered keys only: who ran the command, as that person or the operating system stated it. */
  operator?: string
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
