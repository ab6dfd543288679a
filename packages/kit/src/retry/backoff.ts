/** Longest pause after a failure, in milliseconds. */
export const LONGEST_PAUSE_MS = 30_000
const FIRST_PAUSE_MS = 250

/**
 * Pause after this number of failures in a row (1 or more), in milliseconds: 250 ms, doubled with each failure, up to
 * 30 s.
 */
export function pauseMsAfterFailures(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 20), LONGEST_PAUSE_MS)
}
