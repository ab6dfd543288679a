import { ApiProblem, NoAnswer } from '@backstop/client'

/** What is shown and could not be read is read again after this time: a name must not stay an id after an outage. */
const REPEAT_MS = 5_000

/** The wait before a failed read is repeated, in milliseconds; false if it would fail again, for example a missing resource. */
export function repeatAfterMs(error: Error | null): number | false {
  if (error instanceof NoAnswer) return REPEAT_MS
  if (!(error instanceof ApiProblem) || (error.status < 500 && error.status !== 429)) return false
  return Math.max(REPEAT_MS, error.retryAfterMs ?? 0)
}
