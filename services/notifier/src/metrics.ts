import { ChannelKind } from '@backstop/contracts'
import { END_TO_END_BUCKETS_S, HTTP_BUCKETS_S, type Metrics } from '@backstop/kit/ops'

/** The delivery metrics of the notifier. Channel and project are never labels, to bound the number of series. */
export interface DeliveryMetrics {
  attempted(channel: ChannelKind, outcome: string, reason: string, durationMs: number): void
  /** @param sinceReceiptMs time from the provider's notification to the receiver's 2xx */
  delivered(channel: ChannelKind, sinceReceiptMs: number): void
  egressBlocked(reason: string): void
  channelDisabled(channel: ChannelKind, reason: string): void
  postponed(channel: ChannelKind): void
  oldestPending(ms: number): void
}

export function createDeliveryMetrics(metrics: Metrics): DeliveryMetrics {
  const attempts = metrics.counter('delivery_attempts_total', 'Attempts to deliver', ['channel', 'outcome', 'reason'])
  const duration = metrics.histogram(
    'delivery_attempt_duration_seconds',
    'Time that one attempt took',
    ['channel'],
    [...HTTP_BUCKETS_S, 20],
  )
  const endToEnd = metrics.histogram(
    'alert_e2e_latency_seconds',
    "From the first record of an action, or from the creation of another alert, to the receiver's acceptance",
    ['channel'],
    END_TO_END_BUCKETS_S,
  )
  // A counter that begins with its first event would hide that event from rates.
  for (const channel of ChannelKind.options) endToEnd.zero({ channel })
  const blocked = metrics.counter('egress_blocked_total', 'Requests that the egress guard held back', ['reason'])
  const disabled = metrics.counter('endpoint_disabled_total', 'Channels disabled by what their receiver answered', [
    'channel',
    'reason',
  ])
  const postponed = metrics.counter(
    'delivery_postponed_total',
    'Messages postponed because too many wait for their channel',
    ['channel'],
  )
  const oldest = metrics.gauge('delivery_oldest_pending_seconds', 'Age of the oldest delivery at work here', [])
  return {
    attempted(channel, outcome, reason, durationMs) {
      attempts.inc({ channel, outcome, reason })
      duration.observe({ channel }, durationMs / 1000)
    },
    delivered: (channel, sinceReceiptMs) => endToEnd.observe({ channel }, Math.max(0, sinceReceiptMs) / 1000),
    egressBlocked: reason => blocked.inc({ reason }),
    channelDisabled: (channel, reason) => disabled.inc({ channel, reason }),
    postponed: channel => postponed.inc({ channel }),
    oldestPending: ms => oldest.set(ms / 1000),
  }
}
