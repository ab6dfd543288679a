/** At most `calls` in any `perMs` milliseconds, for all calls together or for each endpoint. */
export interface RateLimit {
  readonly calls: number
  readonly perMs: number
  readonly of: 'account' | 'endpoint'
}

/** Counts the accepted calls against the rate limits. */
export interface RateGate {
  /** Milliseconds until the next call to this endpoint is accepted. If it is 0, the present call is accepted and counted. */
  admit(endpoint: string, nowMs: number): number
}

/** Creates a gate that enforces all limits. */
export function createRateGate(limits: readonly RateLimit[]): RateGate {
  const counted = limits.map(limit => ({ limit, times: new Map<string, number[]>() }))
  return {
    admit(endpoint, nowMs) {
      let waitMs = 0
      const windows = counted.map(({ limit, times }) => {
        const key = limit.of === 'account' ? '' : endpoint
        const within = (times.get(key) ?? []).filter(atMs => atMs > nowMs - limit.perMs)
        times.set(key, within)
        const [oldest] = within
        if (within.length >= limit.calls && oldest !== undefined)
          waitMs = Math.max(waitMs, oldest + limit.perMs - nowMs)
        return within
      })
      if (waitMs === 0) for (const within of windows) within.push(nowMs)
      return waitMs
    },
  }
}
