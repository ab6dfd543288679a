import type { Process } from '../http/installation.ts'

/**
 * A running process of a service, under `<host>-<8 hexadecimal digits>`, another id after each start. Owner: packages/kit, by which each
 * process writes its own document.
 */
export interface ProcessDocument extends Pick<Process, 'service' | 'version' | 'unready' | 'keys' | 'clock_ahead_ms'> {
  _id: string
  started_at: Date
  /** MongoDB's time of the last report. */
  reported_at: Date
}

/** A key of SECRET_KEYS that a process has. The key cannot be computed from its fingerprint. */
export type ProcessKey = Process['keys'][number]
