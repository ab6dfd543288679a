import { RETRY_RUNGS } from '@backstop/contracts'

type Rung = (typeof RETRY_RUNGS)[number]

/** The decision after a failed attempt. */
export type NextAttempt =
  | { kind: 'retry'; attempt: number; dueAtMs: number; topic: Rung['topic']; reason: 'ladder' | 'retry_after' }
  | { kind: 'no_retry'; reason: 'test_is_attempted_once' | 'retry_window_over' }

/** How long after its first attempt a delivery is retried, in milliseconds. */
export const RETRY_WINDOW_MS = 72 * 3_600_000

/**
 * The retry ladder: 5 s, 1 min, 10 min, 1 h, then every 6 h until 72 h after the first attempt. An attempt that was brought forward does not
 * climb, so that a receiver that fails now and then does not get the next one in hours. A Retry-After selects the first rung that is at
 * least as long, or the longest rung, because all messages of a delay line wait equally long.
 * @param failed the failed attempt; its number starts from 1
 */
export function decideNextAttempt(failed: {
  attempt: number
  /** The number of the attempt on the first rung: 1, or a later one after a manual retry. */
  ladderFromAttempt?: number
  /** When the attempt on the first rung began. */
  firstAttemptAtMs: number
  nowMs: number
  test: boolean
  retryAfterMs: number | null
}): NextAttempt {
  if (failed.test) return { kind: 'no_retry', reason: 'test_is_attempted_once' }
  const climbed = failed.attempt - (failed.ladderFromAttempt ?? 1)
  const onLadder = Math.max(0, Math.min(climbed, highestRungAfter(failed.nowMs - failed.firstAttemptAtMs)))
  const asked = rungAtOrAbove(failed.retryAfterMs ?? 0)
  const rung = RETRY_RUNGS[Math.max(onLadder, asked)] as Rung
  const dueAtMs = failed.nowMs + rung.delayMs
  if (dueAtMs > failed.firstAttemptAtMs + RETRY_WINDOW_MS) return { kind: 'no_retry', reason: 'retry_window_over' }
  return {
    kind: 'retry',
    attempt: failed.attempt + 1,
    dueAtMs,
    topic: rung.topic,
    reason: asked > onLadder ? 'retry_after' : 'ladder',
  }
}

/** The highest rung that attempts at their own times have reached so many milliseconds after the first one. */
function highestRungAfter(elapsedMs: number): number {
  let rung = 0
  for (let reachedMs = RETRY_RUNGS[0].delayMs; reachedMs <= elapsedMs && rung < RETRY_RUNGS.length - 1; ) {
    rung += 1
    reachedMs += RETRY_RUNGS[rung]?.delayMs ?? Number.POSITIVE_INFINITY
  }
  return rung
}

function rungAtOrAbove(delayMs: number): number {
  const index = RETRY_RUNGS.findIndex(rung => rung.delayMs >= delayMs)
  return index === -1 ? RETRY_RUNGS.length - 1 : index
}

/**
 * Chooses the delay line for a message whose channel has a full queue or is paused: the longest line that does not make
 * it late. With the shortest line, a flood to a slow receiver would cycle every five seconds.
 * @param waitMs earliest time until the attempt, in milliseconds
 */
export function decidePostponement(waitMs: number): Rung {
  const [seconds, minute, tenMinutes] = RETRY_RUNGS
  if (waitMs >= tenMinutes.delayMs) return tenMinutes
  return waitMs >= minute.delayMs ? minute : seconds
}
