import { RETRY_RUNGS } from '@backstop/contracts'

type Rung = (typeof RETRY_RUNGS)[number]

/** The decision after a failed attempt. */
export type NextAttempt =
  | { kind: 'retry'; attempt: number; dueAtMs: number; topic: Rung['topic']; reason: 'ladder' | 'retry_after' }
  | { kind: 'no_retry'; reason: 'test_is_attempted_once' | 'retry_window_over' }

/** How much the clocks of the processes that made two attempts may differ, in milliseconds. */
const CLOCKS_MAY_DIFFER_MS = 1_000

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
  /** When the attempt on the first rung began, or when a person restarted the ladder. */
  firstAttemptAtMs: number
  /** When the attempts on the ladder began, in their order; the last one is this attempt. */
  ladderAttemptsAtMs: readonly number[]
  nowMs: number
  test: boolean
  retryAfterMs: number | null
}): NextAttempt {
  if (failed.test) return { kind: 'no_retry', reason: 'test_is_attempted_once' }
  const onLadder = rungAfter(failed.ladderAttemptsAtMs)
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

/** The rung of the next attempt. An attempt that came earlier than its rung says was brought forward, and is on the same rung as the one before. */
function rungAfter(attemptsAtMs: readonly number[]): number {
  return attemptsAtMs.reduce((rung, atMs, index) => {
    const waitedMs = atMs - (attemptsAtMs[index - 1] ?? atMs)
    const isOnTime = index > 0 && waitedMs + CLOCKS_MAY_DIFFER_MS >= (RETRY_RUNGS[rung]?.delayMs ?? 0)
    return isOnTime ? Math.min(rung + 1, RETRY_RUNGS.length - 1) : rung
  }, 0)
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
