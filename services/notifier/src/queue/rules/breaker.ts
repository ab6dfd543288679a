/**
 * What one attempt showed about its channel's receiver. `throttled`: the receiver works but reports overload, or asks
 * for a pause.
 */
export type PaceSignal =
  | { readonly kind: 'worked'; readonly atMs: number }
  | { readonly kind: 'failed'; readonly atMs: number }
  | { readonly kind: 'throttled'; readonly atMs: number; readonly retryAfterMs: number | null }

/** The results of the latest attempts of a channel, as seen by one process. */
export interface Breaker {
  /** Number of failed attempts in a row. */
  readonly failures: number
  /** Nothing is sent before this time, in milliseconds since the epoch. */
  readonly heldUntilMs: number
  readonly heldBecause: 'breaker_open' | 'throttled'
}

export const CLOSED_BREAKER: Breaker = { failures: 0, heldUntilMs: 0, heldBecause: 'breaker_open' }

/** Number of failures in a row that open the breaker, which pauses the channel. */
export const FAILURES_TO_OPEN = 5
/** First and longest pause, in milliseconds. The pause doubles with each attempt that fails after it. */
export const FIRST_PAUSE_MS = 5_000
export const LONGEST_PAUSE_MS = 60_000
/** First pause of a throttled receiver that sends no Retry-After, in milliseconds. The pause doubles, too. */
export const FIRST_THROTTLE_MS = 1_000
/** Longest pause that a Retry-After can cause, in milliseconds: a mistyped value must not silence a channel. */
export const LONGEST_OBEYED_MS = 3_600_000

export function updateBreaker(breaker: Breaker, paceSignal: PaceSignal): Breaker {
  switch (paceSignal.kind) {
    case 'worked':
      return CLOSED_BREAKER
    case 'failed': {
      const failures = breaker.failures + 1
      if (failures < FAILURES_TO_OPEN) return { ...breaker, failures }
      return extendPause(breaker, failures, paceSignal.atMs, breakerPauseMs(failures), 'breaker_open')
    }
    case 'throttled': {
      const failures = breaker.failures + 1
      // A short Retry-After does not shorten the pause of an open breaker.
      const pauseMs =
        paceSignal.retryAfterMs === null
          ? doubledPauseMs(FIRST_THROTTLE_MS, failures - 1)
          : Math.max(Math.min(paceSignal.retryAfterMs, LONGEST_OBEYED_MS), breakerPauseMs(failures))
      return extendPause(breaker, failures, paceSignal.atMs, pauseMs, 'throttled')
    }
    default:
      return paceSignal satisfies never
  }
}

export type SendPermission =
  | { kind: 'free'; reason: 'works' }
  /** One attempt at a time is enough to see whether the receiver works again. */
  | { kind: 'one_at_a_time'; reason: 'failed_last' | 'half_open' }
  | { kind: 'held'; reason: 'breaker_open' | 'throttled'; untilMs: number }

/** Decides how many attempts may run for the channel now. */
export function sendPermissionOf(breaker: Breaker, nowMs: number): SendPermission {
  if (breaker.heldUntilMs > nowMs) return { kind: 'held', reason: breaker.heldBecause, untilMs: breaker.heldUntilMs }
  if (breaker.failures === 0) return { kind: 'free', reason: 'works' }
  return { kind: 'one_at_a_time', reason: breaker.failures < FAILURES_TO_OPEN ? 'failed_last' : 'half_open' }
}

/** Extends the pause. Concurrent attempts end one after the other, and a later end never shortens the pause. */
function extendPause(
  before: Breaker,
  failures: number,
  atMs: number,
  pauseMs: number,
  heldBecause: Breaker['heldBecause'],
): Breaker {
  const heldUntilMs = atMs + pauseMs
  return heldUntilMs < before.heldUntilMs ? { ...before, failures } : { failures, heldUntilMs, heldBecause }
}

/** The pause after this number of failures in a row, in milliseconds; 0 if there are too few to open the breaker. */
function breakerPauseMs(failures: number): number {
  return failures < FAILURES_TO_OPEN ? 0 : doubledPauseMs(FIRST_PAUSE_MS, failures - FAILURES_TO_OPEN)
}

function doubledPauseMs(firstMs: number, times: number): number {
  return Math.min(firstMs * 2 ** Math.min(times, 10), LONGEST_PAUSE_MS)
}
