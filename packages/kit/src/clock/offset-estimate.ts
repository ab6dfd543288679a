/** One reading of another clock. Local times are read from a monotonic clock, in milliseconds. */
export interface ClockReading {
  readonly sentAtMs: number
  readonly receivedAtMs: number
  /** The other clock's time between sending and receiving: milliseconds since the epoch, rounded down. */
  readonly remoteMs: number
}

/** The other clock shows local time + `offsetMs`, with a maximum error of `errorMs`. */
export interface OffsetEstimate {
  readonly offsetMs: number
  readonly errorMs: number
  /** The local time to which the error applies. The error grows afterwards. */
  readonly atMs: number
}

/** Readings are rounded down to whole milliseconds. */
const RESOLUTION_MS = 1
/** NTP changes the speed of a clock by at most 500 ppm, and the two clocks may change in opposite directions. */
const MAX_DRIFT = 0.001

/** The estimate at a later local time, with a larger error because the clocks may have drifted. */
export function estimateAt(estimate: OffsetEstimate, atMs: number): OffsetEstimate {
  const errorMs = estimate.errorMs + Math.max(0, atMs - estimate.atMs) * MAX_DRIFT
  return { offsetMs: estimate.offsetMs, errorMs, atMs }
}

/**
 * Intersects the known estimate with a new reading: a reading with a short round trip reduces the error, a long one
 * changes little. If the two do not overlap, the other clock was set or this machine was suspended, and only the new
 * reading is used.
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
