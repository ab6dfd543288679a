/** What a process knows about the heartbeat. Times are in milliseconds since the epoch. */
export interface HeartbeatFacts {
  /** When the newest heartbeat came back; null if none has been seen. */
  readonly returnedAtMs: number | null
  /** When this process began to watch. */
  readonly watchedSinceMs: number
  /** When the absence was reported; null if it was not, or if its end was reported too. */
  readonly reportedAtMs: number | null
}

/** What to report. `silentMs` is how long no heartbeat has come back. */
export type HeartbeatVerdict =
  | { readonly kind: 'quiet'; readonly reason: 'in_time' | 'already_reported' }
  | { readonly kind: 'missing'; readonly silentMs: number }
  | { readonly kind: 'returned' }

/**
 * Decides whether to report that the heartbeat is missing or that it is back. The wait begins again when the process starts, because an
 * installation that was stopped on purpose needs time for its first heartbeat.
 */
export function judgeHeartbeat(facts: HeartbeatFacts, nowMs: number, alarmAfterMs: number): HeartbeatVerdict {
  const { returnedAtMs, watchedSinceMs, reportedAtMs } = facts
  if (reportedAtMs !== null) {
    const isBack = returnedAtMs !== null && returnedAtMs > reportedAtMs
    return isBack ? { kind: 'returned' } : { kind: 'quiet', reason: 'already_reported' }
  }
  const silentMs = nowMs - Math.max(returnedAtMs ?? watchedSinceMs, watchedSinceMs)
  return silentMs < alarmAfterMs ? { kind: 'quiet', reason: 'in_time' } : { kind: 'missing', silentMs }
}
