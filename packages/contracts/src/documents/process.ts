import type { ServiceName } from '../services.ts'

/** A running process of a service. Owner: packages/kit, by which each process writes its own document. */
export interface ProcessDocument {
  /** `<host>-<8 hexadecimal digits>`, another one after each start. */
  _id: string
  service: ServiceName
  /** The release with the commit, for example `0.3.0-dev+g1a2b3c4d5e6f`. */
  version: string
  started_at: Date
  /** MongoDB's time of the last report. */
  reported_at: Date
  /** Why the process is not ready; null if it is. */
  unready: string | null
  keys: ProcessKey[]
  /** How far the clock of the host is ahead of MongoDB's, or of Kafka's if MongoDB was never read. Null if neither was read. */
  clock_ahead_ms: number | null
}

/** A key of SECRET_KEYS that a process has. */
export interface ProcessKey {
  key_id: string
  /** Equal in all processes that have the same key. The key cannot be computed from it. */
  fingerprint: string
}
