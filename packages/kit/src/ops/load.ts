/** The event loop during one sampling interval. */
export interface LoadSample {
  /** Share of the time in which the event loop was busy, 0 to 1. */
  readonly utilization: number
  /** Median and 99th percentile of the event loop's delay, in milliseconds. */
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
 * Share of the lag limit that the median lag must exceed for a busy event loop to count as overloaded. A busy loop with
 * short turns (some 10 ms under full load) works well.
 */
const BUSY_LAG_SHARE = 0.25
/**
 * Number of overloaded samples in a row that count as overload. A single slow second may be caused by garbage
 * collection or another process.
 */
export const OVERLOADED_SAMPLES = 2

/** Decides whether new work should be refused, from the latest samples (oldest first). */
export function judgeLoad(samples: readonly LoadSample[], limits: LoadLimits): LoadJudgement {
  const latest = samples.slice(-OVERLOADED_SAMPLES)
  if (latest.length < OVERLOADED_SAMPLES) return { kind: 'bearable' }
  if (latest.every(sample => sample.lagP99Ms > limits.maxLagP99Ms)) {
    return { kind: 'overloaded', reason: 'event_loop_lag' }
  }
  const isBusy = (sample: LoadSample) =>
    sample.utilization > limits.maxUtilization && sample.lagP50Ms > limits.maxLagP99Ms * BUSY_LAG_SHARE
  if (latest.every(isBusy)) return { kind: 'overloaded', reason: 'event_loop_utilization' }
  return { kind: 'bearable' }
}
