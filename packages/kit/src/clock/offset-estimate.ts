/** One reading of another clock. Local times are those of one monotonic clock, in milliseconds. */
export interface ClockReading {
  readonly sentAtMs: number
  readonly receivedAtMs: number
  /** The other clock's time at some moment between the two: milliseconds since the epoch, rounded down. */
  readonly remoteMs: number
}

/** The other clock shows local time + `offsetMs`, give or take `errorMs`. */
export interface OffsetEstimate {
  readonly offsetMs: number
  readonly errorMs: number
  /** The local time that the error is stated for: it grows afterwards. */
  readonly atMs: number
}

/** Readings are rounded down to whole milliseconds. */
const RESOLUTION_MS = 1
/** NTP slews a clock by 500 ppm at most, and the two may be slewed in opposite directions. */
const MAX_DRIFT = 0.001

/** The estimate as of a later local time: the clocks may have drifted apart since. */
export function estimateAt(estimate: OffsetEstimate, atMs: number): OffsetEstimate {
  const errorMs = estimate.errorMs + Math.max(0, atMs - estimate.atMs) * MAX_DRIFT
  return { offsetMs: estimate.offsetMs, errorMs, atMs }
}

/**
 * Both the known estimate and the new reading bound the offset, so it is where the two overlap: a long round trip changes little, a short one sharpens
 * the estimate. Without an overlap the other clock was stepped or this machine was suspended, and only the new reading counts.
 */
export function refineEstimate(known: OffsetEstimate | undefined, reading: ClockReading): OffsetEstimate {
  const fresh = estimateOf(reading)
  if (known === undefined) return fresh
  const aged = estimateAt(known, fresh.atMs)
  const low = Math.max(aged.offsetMs - aged.errorMs, fresh.offsetMs - fresh.errorMs)
  const high = Math.min(aged.offsetMs + aged.errorMs, fresh.offsetMs + fresh.errorMs)
  return low > high ? fresh : { offsetMs: (low + high) / 2, errorMs: (high - low) / 2, atMs: fresh.atMs }
}

function estimateOf({ sentAtMs, receivedAtMs, remoteMs }: ClockReading): OffsetEstimate {
  const drift = (receivedAtMs - sentAtMs) * MAX_DRIFT
  const low = remoteMs - receivedAtMs - drift
  const high = remoteMs + RESOLUTION_MS - sentAtMs + drift
  return { offsetMs: (low + high) / 2, errorMs: (high - low) / 2, atMs: receivedAtMs }
}
