/** Longest pause of a partition after a fault, in milliseconds. */
export const LONGEST_PAUSE_MS = 30_000
const FIRST_PAUSE_MS = 250

/** Pause before the next try after `faults` faults in a row (1 or more), in milliseconds: doubled each time, up to 30 s. */
export function pauseAfter(faults: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(faults - 1, 20), LONGEST_PAUSE_MS)
}
