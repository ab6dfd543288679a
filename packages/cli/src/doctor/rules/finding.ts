/** The faults that doctor identifies, with the section of docs/doctor.md about each. */
export const FINDING_CODES = [
  'api_down',
  'key_refused',
  'kafka_down',
  'mongo_down',
  'registry_down',
  'missing_right',
  'topic_missing',
  'schema_missing',
  'index_missing',
  'service_missing',
  'process_not_ready',
  'process_silent',
  'versions_differ',
  'wrong_secret_key',
  'no_webhook',
  'thin_event_clients',
  'read_key_rejected',
  'reading_failing',
  'channel_disabled',
  'channel_failing',
  'clock_offset',
  'consumer_lag',
  'dead_letters',
  'disk_full',
] as const
export type FindingCode = (typeof FINDING_CODES)[number]

/** One fault with its remedy. */
export interface Finding {
  readonly code: FindingCode
  /** error: refunds may go unnoticed, or alerts are not delivered. warning: it soon may be so. note: no fault, if it ends soon. */
  readonly severity: 'error' | 'warning' | 'note'
  readonly what: string
  readonly remedy: string
  /** The page and section about this fault. */
  readonly docs: string
}

const MILD: Partial<Record<FindingCode, 'warning' | 'note'>> = {
  no_webhook: 'warning',
  reading_failing: 'warning',
  clock_offset: 'warning',
  disk_full: 'warning',
  process_silent: 'warning',
  versions_differ: 'note',
  thin_event_clients: 'note',
}

export function finding(code: FindingCode, what: string, remedy: string): Finding {
  return { code, severity: MILD[code] ?? 'error', what, remedy, docs: `docs/doctor.md#${code}` }
}
