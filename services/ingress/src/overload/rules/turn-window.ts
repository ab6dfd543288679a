/**
 * Decides which requests a turn of the event loop accepts. Under overload, requests wait in the sockets while the turn before handles
 * others, so the length of a turn is the waiting time. A request that comes early in its turn has waited longest, so the first part of a
 * turn accepts requests, and the rest refuses them, which is cheaper.
 */

/** A finished turn, from its first request to its end. */
export interface Turn {
  readonly tookMs: number
  /** How much of it came after its first refusal; 0 if it refused no request. */
  readonly refusingMs: number
}

export type TurnJudgement =
  | { readonly kind: 'bearable' }
  | { readonly kind: 'overloaded'; readonly reason: 'event_loop_lag' }

const BEARABLE = { kind: 'bearable' } as const
const OVERLOADED = { kind: 'overloaded', reason: 'event_loop_lag' } as const

/**
 * Shares of the longest wait. An event waits for about three turns: to be read, sent and answered, and its socket is free for the next one
 * only then, so turns under overload must be much shorter than the longest wait. Some requests are always accepted, so that ingress makes
 * progress even if refusals alone fill its turns. One long turn may be a burst, garbage collection or other work of the machine, so it
 * refuses late, and only two turns that are much longer than the target begin an overload: on a busy machine turns of the target's length are normal.
 */
const TARGET_SHARE = 0.2
const FIRST_LONG_SHARE = 0.6
const LEAST_SHARE = 0.03
const WIDEST_SHARE = 2.5

/** The window of a turn that follows no overload. */
export function widestWindowMs(longestWaitMs: number): number {
  return longestWaitMs * WIDEST_SHARE
}

/** Judges a request that is read this long after the first request of its turn. */
export function judgeRequest(sinceTurnBeganMs: number, windowMs: number): TurnJudgement {
  return sinceTurnBeganMs > windowMs ? OVERLOADED : BEARABLE
}

/**
 * How long the next turn accepts requests: after a turn with refusals, as long as these leave time for. Their number changes little from
 * turn to turn, so the turns approach the target, without a stop between floods.
 * @param before the turn before it
 */
export function nextWindowMs({ tookMs, refusingMs }: Turn, before: Turn, longestWaitMs: number): number {
  const targetMs = longestWaitMs * TARGET_SHARE
  if (refusingMs > 0) return Math.max(targetMs - refusingMs, longestWaitMs * LEAST_SHARE)
  const isOverload = Math.min(tookMs, before.tookMs) > longestWaitMs * FIRST_LONG_SHARE
  return isOverload ? targetMs : widestWindowMs(longestWaitMs)
}
