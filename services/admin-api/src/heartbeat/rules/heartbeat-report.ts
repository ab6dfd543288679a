import { isoTime } from '@backstop/contracts'

/** The result of the last attempt to send a heartbeat to ingress. */
export type SendResult = { readonly kind: 'accepted' } | { readonly kind: 'failed'; readonly error: string }

export interface ReportFacts {
  readonly kind: 'missing' | 'returned'
  /** Names the installation, if there are several. */
  readonly installation: string
  readonly returnedAtMs: number | null
  /** When the absence began: the last return before it, or the start of the watch. */
  readonly silentSinceMs: number
  readonly nowMs: number
  /** Null before the first attempt. */
  readonly lastSend: SendResult | null
  /** Why the deliveries cannot be read; null if they can. */
  readonly readError: string | null
}

/** The JSON that is posted to HEARTBEAT_ALARM_URL. Chat services with incoming webhooks show `text`. */
export interface HeartbeatReport {
  /** The same for every report of one absence, so that a receiver can discard a repeat. */
  readonly id: string
  readonly event: 'heartbeat.missing' | 'heartbeat.returned'
  readonly text: string
  readonly installation: string
  readonly created_at: string
  readonly last_returned_at: string | null
  readonly silent_seconds: number
  readonly cause: string
}

const RUNBOOK = 'docs/runbooks/BackstopHeartbeatMissing.md'

export function heartbeatReport(facts: ReportFacts): HeartbeatReport {
  const { kind, installation, returnedAtMs, silentSinceMs, nowMs } = facts
  const silent_seconds = Math.round((nowMs - silentSinceMs) / 1000)
  const cause = kind === 'missing' ? causeOf(facts) : ''
  const text =
    kind === 'missing'
      ? `${installation}: no heartbeat has come back for ${silent_seconds} seconds. Alerts may not be delivered. ${cause} See ${RUNBOOK}`
      : `${installation}: the heartbeat is back after ${silent_seconds} seconds. Alerts are delivered again`
  return {
    id: `heartbeat.${kind}.${returnedAtMs ?? 'none'}`,
    event: `heartbeat.${kind}`,
    text,
    installation,
    created_at: isoTime(nowMs),
    last_returned_at: returnedAtMs === null ? null : isoTime(returnedAtMs),
    silent_seconds,
    cause,
  }
}

/** How far the heartbeats get, as far as admin-api can tell. */
function causeOf({ lastSend, readError }: ReportFacts): string {
  if (readError !== null) return `MongoDB cannot be read: ${readError}.`
  if (lastSend === null) return 'No heartbeat was sent: its connection is not stored yet.'
  return lastSend.kind === 'failed'
    ? `Ingress does not accept it: ${lastSend.error}.`
    : 'Ingress accepts it, so look at Kafka, the reconciler and the notifier.'
}
