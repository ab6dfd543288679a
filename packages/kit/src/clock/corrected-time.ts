/**
 * Time since the epoch, derived from a monotonic clock: local time + `offsetMs`, but never less than a time that starts
 * at `fromMs` and runs at half speed. A smaller offset therefore slows the time down until the difference is gone, and
 * never sets it back.
 */
export interface CorrectedTime {
  readonly offsetMs: number
  /** The offset was applied at local time `sinceMs`. This was the corrected time at that moment. */
  readonly fromMs: number
  readonly sinceMs: number
}

/** Half speed: while the time is slowed down, a deadline takes up to twice as long. */
const SLEW = 0.5

/** The initial time. It may start anywhere, because it has not been read yet. */
export function initialTime(offsetMs: number): CorrectedTime {
  return { offsetMs, fromMs: Number.NEGATIVE_INFINITY, sinceMs: 0 }
}

/** Applies an offset: forward at once, backward by running at half speed. */
export function applyOffset(time: CorrectedTime, offsetMs: number, localMs: number): CorrectedTime {
  return { offsetMs, fromMs: exactTimeAt(time, localMs), sinceMs: localMs }
}

/** The corrected time in whole milliseconds since the epoch. */
export function timeAt(time: CorrectedTime, localMs: number): number {
  return Math.floor(exactTimeAt(time, localMs))
}

/** How far the corrected time is still ahead of local time + offset, in milliseconds. */
export function remainingExcessMs(time: CorrectedTime, localMs: number): number {
  return exactTimeAt(time, localMs) - (localMs + time.offsetMs)
}

function exactTimeAt({ offsetMs, fromMs, sinceMs }: CorrectedTime, localMs: number): number {
  return Math.max(localMs + offsetMs, fromMs + (localMs - sinceMs) * SLEW)
}
