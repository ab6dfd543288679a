import { ProviderKind } from '@backstop/contracts'
import { HTTP_BUCKETS_S, type Metrics } from '@backstop/kit/ops'
import { REJECTION_REASONS, type RejectionReason } from './rejection-reasons.ts'

interface RecordedRequest {
  readonly method: string
  /** Null if the path names no provider. */
  readonly provider: ProviderKind | null
  readonly status: number
  readonly result: string
  readonly reason: RejectionReason | null
  readonly durationS: number
  /** True if the secret that authenticated the notification is being rotated out. */
  readonly byOldSecret: boolean
}

export interface RequestMetrics {
  record(request: RecordedRequest): void
  recordSend(outcome: 'acknowledged' | 'failed', messages: number, durationMs: number): void
  recordState(state: { queuedMessages: number; bodyBytes: number; connections: number }): void
}

const routeOf = (provider: string) => `/v1/webhooks/${provider}/{connection_id}`
const ROUTES: Readonly<Record<ProviderKind | 'none', string>> = {
  processor: routeOf('processor'),
  reseller: routeOf('reseller'),
  subscription: routeOf('subscription'),
  none: 'none',
}

export function createRequestMetrics(metrics: Metrics): RequestMetrics {
  const webhooks = metrics.counter('ingress_webhooks_total', 'Notifications by outcome', ['provider', 'result'])
  const rejected = metrics.counter('ingress_rejected_total', 'Requests that were not received, by reason', ['reason'])
  // Without a first value of zero, an alert rule could not see the first refusal.
  for (const reason of REJECTION_REASONS) rejected.inc({ reason }, 0)
  for (const provider of ProviderKind.options)
    for (const result of ['malformed', 'rate_limited']) webhooks.inc({ provider, result }, 0)
  const byOldSecrets = metrics.counter(
    'ingress_old_secret_total',
    'Notifications authenticated by a secret that is being rotated out; log lines with old_secret name the connections',
    ['provider'],
  )
  const sends = metrics.histogram(
    'kafka_produce_duration_seconds',
    'Time of one send to the broker',
    ['outcome'],
    HTTP_BUCKETS_S,
  )
  const sentMessages = metrics.counter('kafka_produced_messages_total', 'Messages by the outcome of their send', [
    'outcome',
  ])
  const queued = metrics.gauge('ingress_queued_messages', 'Messages that wait for an acknowledgement', [])
  const bodies = metrics.gauge('ingress_body_bytes', 'Bytes of bodies held in memory', [])
  const connections = metrics.gauge('ingress_connections', 'Connections held in memory', [])
  return {
    record({ method, provider, status, result, reason, durationS, byOldSecret }) {
      metrics.recordHttpRequest({ method, route: ROUTES[provider ?? 'none'], status, durationS })
      if (provider !== null) webhooks.inc({ provider, result })
      if (provider !== null && byOldSecret) byOldSecrets.inc({ provider })
      if (reason !== null) rejected.inc({ reason })
    },
    recordSend(outcome, messages, durationMs) {
      sends.observe({ outcome }, durationMs / 1000)
      sentMessages.inc({ outcome }, messages)
    },
    recordState(state) {
      queued.set(state.queuedMessages)
      bodies.set(state.bodyBytes)
      connections.set(state.connections)
    },
  }
}
