/** The first pause after a failure, in milliseconds. Most failures end within seconds. */
const FIRST_PAUSE_MS = 10_000
/** The longest pause, in milliseconds, unless the interval of sweeps is longer. */
const LONGEST_PAUSE_MS = 5 * 60_000
/**
 * The longest Retry-After that is respected, in milliseconds, because a wrong value must not stop reading for a year.
 */
const LONGEST_RETRY_AFTER_MS = 3_600_000

/**
 * How long the sweep of a connection waits after a failure, in milliseconds. The pause doubles with each failure in a
 * row. Half of it is random, so that connections that failed together do not retry together.
 * @param failures in a row, 1 or more
 * @param retryAfterMs the provider's Retry-After; null if there was none
 * @param chance from 0 to 1
 */
export function pauseAfterFailures(
  failures: number,
  everyMs: number,
  retryAfterMs: number | null,
  chance: number,
): number {
  const longestMs = Math.max(everyMs, LONGEST_PAUSE_MS)
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 30), longestMs)
  return Math.max((pauseMs * (1 + chance)) / 2, Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS))
}
