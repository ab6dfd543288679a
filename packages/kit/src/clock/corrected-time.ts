/**
 * Time since the epoch on top of a monotonic clock: local time + `offsetMs`, but never less than a time that starts at
 * `fromMs` and runs at half speed. So a smaller offset slows the time down until it has caught up, and never sets it back.
 */
export interface CorrectedTime {
  readonly offsetMs: number
  /** The time that it showed at local time `sinceMs`, when it got its offset. */
  readonly fromMs: number
  readonly sinceMs: number
}

/** Half speed: deadlines measured by this time take at most twice as long meanwhile. */
const SLEW = 0.5

/** The initial time: nobody has read it, so it may start anywhere. */
export function startTime(offsetMs: number): CorrectedTime {
  return { offsetMs, fromMs: Number.NEGATIVE_INFINITY, sinceMs: 0 }
}

/** Applies an offset: forward at once, backward by slewing. */
export function withOffset(time: CorrectedTime, offsetMs: number, localMs: number): CorrectedTime {
  return { offsetMs, fromMs: exactTimeAt(time, localMs), sinceMs: localMs }
}

/** Milliseconds since the epoch, whole. */
export function timeAt(time: CorrectedTime, localMs: number): number {
  return Math.floor(exactTimeAt(time, localMs))
}

/** How far the time is still ahead of its offset. */
export function excessAt(time: CorrectedTime, localMs: number): number {
  return exactTimeAt(time, localMs) - (localMs + time.offsetMs)
}

function exactTimeAt({ offsetMs, fromMs, sinceMs }: CorrectedTime, localMs: number): number {
  return Math.max(localMs + offsetMs, fromMs + (localMs - sinceMs) * SLEW)
}
