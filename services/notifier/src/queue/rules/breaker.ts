/**
 * What one attempt showed about its channel's receiver. `throttled`: the receiver works but reports overload, or asks
 * for a pause.
 */
export type PaceSignal =
  | { readonly kind: 'worked'; readonly atMs: number }
  | { readonly kind: 'failed'; readonly atMs: number; readonly tookMs: number }
  | { readonly kind: 'throttled'; readonly atMs: number; readonly retryAfterMs: number | null }

/** The results of the latest attempts of a channel, as seen by one process. */
export interface Breaker {
  /** Number of failed attempts in a row. First attempts during a pause do not count. */
  readonly failures: number
  /** No retry is sent before this time, in milliseconds since the epoch. */
  readonly heldUntilMs: number
  readonly heldBecause: 'breaker_open' | 'throttled'
  /** Number of first attempts that may still start before `heldUntilMs`. */
  readonly firstAttemptsLeft: number
}

export const CLOSED_BREAKER: Breaker = {
  failures: 0,
  heldUntilMs: 0,
  heldBecause: 'breaker_open',
  firstAttemptsLeft: 0,
}

/** Number of failures in a row that open the breaker, which pauses the channel. */
export const FAILURES_TO_OPEN = 5
/** First and longest pause, in milliseconds. The pause doubles with each attempt that fails after it. */
export const FIRST_PAUSE_MS = 5_000
export const LONGEST_PAUSE_MS = 60_000
/**
 * Number of first attempts that a pause of the breaker lets through, one at a time: a new alert must not wait behind
 * the retries of older ones.
 */
export const FIRST_ATTEMPTS_PER_PAUSE = 10
/**
 * An attempt that fails after more than this time, in milliseconds, shows a receiver that hangs. Its first attempts
 * wait for the end of the pause, too, because each would occupy a slot of this process until its deadline.
 */
export const SLOW_FAILURE_MS = 1_000
/** First pause of a throttled receiver that sends no Retry-After, in milliseconds. The pause doubles, too. */
export const FIRST_THROTTLE_MS = 1_000
/** Longest pause that a Retry-After can cause, in milliseconds: a mistyped value must not silence a channel. */
export const LONGEST_OBEYED_MS = 3_600_000

export function updateBreaker(breaker: Breaker, paceSignal: PaceSignal): Breaker {
  const { atMs } = paceSignal
  const failures = breaker.failures + 1
  switch (paceSignal.kind) {
    case 'worked':
      return CLOSED_BREAKER
    case 'failed': {
      const isSlow = paceSignal.tookMs > SLOW_FAILURE_MS
      // The attempt began before the pause, or was a first attempt during it. Neither tested the end of the pause.
      if (breaker.heldUntilMs > atMs) return isSlow ? { ...breaker, firstAttemptsLeft: 0 } : breaker
      if (failures < FAILURES_TO_OPEN) return { ...breaker, failures }
      return {
        failures,
        heldUntilMs: atMs + breakerPauseMs(failures),
        heldBecause: 'breaker_open',
        firstAttemptsLeft: isSlow ? 0 : FIRST_ATTEMPTS_PER_PAUSE,
      }
    }
    case 'throttled': {
      // Concurrent attempts are throttled together. One answer of them shows as much as all.
      const addsNothing = paceSignal.retryAfterMs === null && breaker.heldUntilMs > atMs
      if (addsNothing) return { ...breaker, firstAttemptsLeft: 0 }
      // A short Retry-After does not shorten the pause of an open breaker.
      const pauseMs =
        paceSignal.retryAfterMs === null
          ? doubledPauseMs(FIRST_THROTTLE_MS, failures - 1)
          : Math.max(Math.min(paceSignal.retryAfterMs, LONGEST_OBEYED_MS), breakerPauseMs(failures))
      // Concurrent attempts end one after the other, and a later end never shortens the pause.
      const isLonger = atMs + pauseMs >= breaker.heldUntilMs
      return {
        failures,
        heldUntilMs: isLonger ? atMs + pauseMs : breaker.heldUntilMs,
        heldBecause: isLonger ? 'throttled' : breaker.heldBecause,
        firstAttemptsLeft: 0,
      }
    }
    default:
      return paceSignal satisfies never
  }
}

/** The breaker after one of the first attempts that a pause lets through has started. */
export function countFirstAttempt(breaker: Breaker): Breaker {
  return { ...breaker, firstAttemptsLeft: Math.max(0, breaker.firstAttemptsLeft - 1) }
}

export type SendPermission =
  | { kind: 'free'; reason: 'works' }
  /** One attempt at a time is enough to see whether the receiver works again. */
  | { kind: 'one_at_a_time'; reason: 'failed_last' | 'half_open' }
  /** Only first attempts may start, one at a time, up to `firstAttemptsLeft`. */
  | { kind: 'paused'; reason: 'breaker_open' | 'throttled'; untilMs: number; firstAttemptsLeft: number }

/** Decides how many attempts may run for the channel now. */
export function sendPermissionOf(breaker: Breaker, nowMs: number): SendPermission {
  if (breaker.heldUntilMs > nowMs) {
    const { heldBecause: reason, heldUntilMs: untilMs, firstAttemptsLeft } = breaker
    return { kind: 'paused', reason, untilMs, firstAttemptsLeft }
  }
  if (breaker.failures === 0) return { kind: 'free', reason: 'works' }
  return { kind: 'one_at_a_time', reason: breaker.failures < FAILURES_TO_OPEN ? 'failed_last' : 'half_open' }
}

/** The pause after this number of failures in a row, in milliseconds; 0 if there are too few to open the breaker. */
function breakerPauseMs(failures: number): number {
  return failures < FAILURES_TO_OPEN ? 0 : doubledPauseMs(FIRST_PAUSE_MS, failures - FAILURES_TO_OPEN)
}

function doubledPauseMs(firstMs: number, times: number): number {
  return Math.min(firstMs * 2 ** Math.min(times, 10), LONGEST_PAUSE_MS)
}
