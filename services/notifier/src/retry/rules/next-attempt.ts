import { RETRY_RUNGS } from '@backstop/contracts'

type Rung = (typeof RETRY_RUNGS)[number]

/** What follows a failed attempt. */
export type NextAttempt =
  | { kind: 'retry'; attempt: number; dueAtMs: number; topic: Rung['topic']; reason: 'ladder' | 'retry_after' }
  | { kind: 'no_retry'; reason: 'test_is_attempted_once' | 'retry_window_over' }

/** How long after its first attempt a delivery is still retried. */
export const RETRY_WINDOW_MS = 72 * 3_600_000

/**
 * The retry ladder: 5 s, 1 min, 10 min, 1 h, then every 6 h until 72 h after the first attempt. Retry-After takes the
 * first rung that is at least as long; what is longer than the longest rung gets that one, since every message of a
 * delay line waits equally long.
 * @param failed the number of the attempt that failed, from 1
 */
export function decideNextAttempt(failed: {
  attempt: number
  /** The attempt that stood on the first rung: 1, or a later one where a person had it begin anew or attempted beside it. */
  ladderFromAttempt?: number
  /** When that attempt began. */
  firstAttemptAtMs: number
  nowMs: number
  test: boolean
  retryAfterMs: number | null
}): NextAttempt {
  if (failed.test) return { kind: 'no_retry', reason: 'test_is_attempted_once' }
  const climbed = failed.attempt - (failed.ladderFromAttempt ?? 1)
  const onLadder = Math.max(0, Math.min(climbed, RETRY_RUNGS.length - 1))
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

function rungAtOrAbove(delayMs: number): number {
  const index = RETRY_RUNGS.findIndex(rung => rung.delayMs >= delayMs)
  return index === -1 ? RETRY_RUNGS.length - 1 : index
}

/**
 * Where a message goes whose channel has too much waiting, or is left alone for a while: to the longest delay line that
 * does not make it late, with no attempt counted. A flood to a slow receiver would else turn round every five seconds.
 * @param waitMs in how long its turn may come at the earliest
 */
export function decidePostponement(waitMs: number): Rung {
  const [seconds, minute, tenMinutes] = RETRY_RUNGS
  if (waitMs >= tenMinutes.delayMs) return tenMinutes
  return waitMs >= minute.delayMs ? minute : seconds
}
