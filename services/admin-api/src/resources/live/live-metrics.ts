import type { Metrics } from '@backstop/kit/ops'

/** Counts live streams. */
export interface LiveMetrics {
  opened(isResumed: boolean): void
  closed(): void
  /** A client must load everything again. */
  reset(): void
  /** A stream is ended by this process. @param reason `slow_reader` or the error code of the refusal */
  cut(reason: string): void
}

export function createLiveMetrics(metrics: Metrics): LiveMetrics {
  const open = metrics.gauge('live_streams_open', 'Live streams that are open', [])
  const opened = metrics.counter('live_streams_total', 'Live streams that began, by whether they resumed', ['resumed'])
  const resets = metrics.counter('live_resets_total', 'Clients that must load everything again', [])
  const cuts = metrics.counter('live_cuts_total', 'Live streams that admin-api cut, by reason', ['reason'])
  return {
    opened(isResumed) {
      open.inc()
      opened.inc({ resumed: String(isResumed) })
    },
    closed: () => open.dec(),
    reset: () => resets.inc(),
    cut: reason => cuts.inc({ reason }),
  }
}
