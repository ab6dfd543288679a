const FIRST_WAIT_MS = 2_000
const LONGEST_WAIT_MS = 60_000
const LONGEST_ASKED_MS = 10 * 60_000

/**
 * The milliseconds until a refused live stream is opened again.
 * @param refusals how many were refused in a row, from 1
 * @param askedMs the wait that the server asked for, if it is known
 * @param chance from 0 to 1; spreads the tabs that were all refused at once
 */
export function liveRetryWait(refusals: number, askedMs: number | undefined, chance: number): number {
  const grownMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (refusals - 1)) * (0.5 + chance / 2)
  return Math.max(grownMs, Math.min(LONGEST_ASKED_MS, askedMs ?? 0))
}
