/**
 * What one attempt showed of its channel's receiver. `throttled`: it works, but gets more than it takes, or has said when
 * to come again.
 */
export type PaceSignal =
  | { readonly kind: 'worked'; readonly atMs: number }
  | { readonly kind: 'failed'; readonly atMs: number }
  | { readonly kind: 'throttled'; readonly atMs: number; readonly retryAfterMs: number | null }

/** What the latest attempts showed, as far as one process saw them. */
export interface Breaker {
  /** Attempts in a row that did not work. */
  readonly failures: number
  /** Nothing is sent before. */
  readonly heldUntilMs: number
  readonly heldBecause: 'breaker_open' | 'throttled'
}

export const CLOSED_BREAKER: Breaker = { failures: 0, heldUntilMs: 0, heldBecause: 'breaker_open' }

/** After so many failures in a row the receiver is left alone for a while. */
export const FAILURES_TO_OPEN = 5
/** For how long at first, and at most; it doubles with each attempt that fails after the pause. */
export const FIRST_PAUSE_MS = 5_000
export const LONGEST_PAUSE_MS = 60_000
/** The pause of a receiver that is throttled but did not say for how long; it doubles, too. */
export const FIRST_THROTTLE_MS = 1_000
/** A receiver that asks for longer is tried again after this: a mistyped Retry-After must not silence a channel. */
export const LONGEST_OBEYED_MS = 3_600_000

export function noteAttempt(breaker: Breaker, sign: PaceSignal): Breaker {
  switch (sign.kind) {
    case 'worked':
      return CLOSED_BREAKER
    case 'failed': {
      const failures = breaker.failures + 1
      if (failures < FAILURES_TO_OPEN) return { ...breaker, failures }
      return held(breaker, failures, sign.atMs, openForMs(failures), 'breaker_open')
    }
    case 'throttled': {
      const failures = breaker.failures + 1
      // Who always asks to be tried again at once is left alone like one that asks for nothing.
      const pauseMs =
        sign.retryAfterMs === null
          ? doubled(FIRST_THROTTLE_MS, failures - 1)
          : Math.max(Math.min(sign.retryAfterMs, LONGEST_OBEYED_MS), openForMs(failures))
      return held(breaker, failures, sign.atMs, pauseMs, 'throttled')
    }
    default:
      return sign satisfies never
  }
}

export type Gate =
  | { kind: 'free'; reason: 'works' }
  /** One attempt at a time is enough to see whether it works again. */
  | { kind: 'one_at_a_time'; reason: 'failed_last' | 'half_open' }
  | { kind: 'held'; reason: 'breaker_open' | 'throttled'; untilMs: number }

/** What may be sent to the channel now. */
export function gateOf(breaker: Breaker, nowMs: number): Gate {
  if (breaker.heldUntilMs > nowMs) return { kind: 'held', reason: breaker.heldBecause, untilMs: breaker.heldUntilMs }
  if (breaker.failures === 0) return { kind: 'free', reason: 'works' }
  return { kind: 'one_at_a_time', reason: breaker.failures < FAILURES_TO_OPEN ? 'failed_last' : 'half_open' }
}

/** Attempts that were under way together end one after the other; none of them shortens the pause of another. */
function held(
  before: Breaker,
  failures: number,
  atMs: number,
  pauseMs: number,
  heldBecause: Breaker['heldBecause'],
): Breaker {
  const heldUntilMs = atMs + pauseMs
  return heldUntilMs < before.heldUntilMs ? { ...before, failures } : { failures, heldUntilMs, heldBecause }
}

/** For how long so many failures in a row open the breaker; 0 while there are too few. */
function openForMs(failures: number): number {
  return failures < FAILURES_TO_OPEN ? 0 : doubled(FIRST_PAUSE_MS, failures - FAILURES_TO_OPEN)
}

function doubled(firstMs: number, times: number): number {
  return Math.min(firstMs * 2 ** Math.min(times, 10), LONGEST_PAUSE_MS)
}
