/** The event loop during one sampling interval. */
export interface LoadSample {
  /** Share of the time in which the loop was busy, 0 to 1. */
  readonly utilization: number
  /** Median and 99th percentile of how late the loop was, in milliseconds. */
  readonly lagP50Ms: number
  readonly lagP99Ms: number
}

export interface LoadLimits {
  readonly maxUtilization: number
  readonly maxLagP99Ms: number
}

export type LoadJudgement =
  | { readonly kind: 'bearable' }
  | { readonly kind: 'overloaded'; readonly reason: 'event_loop_lag' | 'event_loop_utilization' }

/**
 * A busy event loop works well while its turns are short (some 10 ms under full load). It counts as overloaded only when the median lag is above this
 * share of the lag limit.
 */
const LAG_SHARE_OF_BUSY = 0.25
/** One slow second may be a garbage collection or another process; two in a row are load. */
export const SAMPLES_TO_SHED = 2

/** Whether new work should be refused, from the latest samples (oldest first). */
export function judgeLoad(samples: readonly LoadSample[], limits: LoadLimits): LoadJudgement {
  const latest = samples.slice(-SAMPLES_TO_SHED)
  if (latest.length < SAMPLES_TO_SHED) return { kind: 'bearable' }
  if (latest.every(sample => sample.lagP99Ms > limits.maxLagP99Ms)) {
    return { kind: 'overloaded', reason: 'event_loop_lag' }
  }
  const isBusy = (sample: LoadSample) =>
    sample.utilization > limits.maxUtilization && sample.lagP50Ms > limits.maxLagP99Ms * LAG_SHARE_OF_BUSY
  if (latest.every(isBusy)) return { kind: 'overloaded', reason: 'event_loop_utilization' }
  return { kind: 'bearable' }
}
