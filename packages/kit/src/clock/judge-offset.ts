/**
 * How far this host's clock is ahead of MongoDB's, in milliseconds, with a maximum error of `errorMs`. Negative if it is
 * behind.
 */
export interface Deviation {
  readonly aheadMs: number
  readonly errorMs: number
}

export interface ClockFacts {
  /** Undefined if MongoDB's clock was never read. */
  readonly deviation: Deviation | undefined
  /** How far the time of this process is still ahead of MongoDB's, because it never goes back, in milliseconds. */
  readonly excessMs: number
}

export type ClockVerdict =
  | { readonly kind: 'in_step' }
  | { readonly kind: 'unmeasured'; readonly detail: string }
  /** `apart` causes a warning; `far_apart` makes the process not ready. */
  | {
      readonly kind: 'apart' | 'far_apart'
      readonly reason: 'own_clock' | 'database_stepped_back'
      readonly detail: string
    }

const WARN_BEYOND_MS = 2_000
const NOT_READY_BEYOND_MS = 30_000

/**
 * Judges the offset to MongoDB's clock. Only the part of a deviation beyond its error counts, so that a slow answer does
 * not look like a wrong clock.
 */
export function judgeOffset({ deviation, excessMs }: ClockFacts): ClockVerdict {
  if (deviation === undefined) {
    return { kind: 'unmeasured', detail: "The clock was not compared with MongoDB's yet: MongoDB is unavailable" }
  }
  if (excessMs > NOT_READY_BEYOND_MS) {
    const detail = `Time of MongoDB stepped back, and this process is still ${seconds(excessMs)} ahead of it: restart the process`
    return { kind: 'far_apart', reason: 'database_stepped_back', detail }
  }
  const certainMs = Math.max(0, Math.abs(deviation.aheadMs) - deviation.errorMs)
  if (certainMs <= WARN_BEYOND_MS) return { kind: 'in_step' }
  const direction = deviation.aheadMs > 0 ? 'ahead of' : 'behind'
  // One process cannot know which of two clocks is wrong. Only a person sees whether other hosts report the same offset.
  const detail =
    `This host's clock is ${seconds(deviation.aheadMs)} ${direction} MongoDB's: synchronise it by NTP, ` +
    "or that of MongoDB's primary if every process reports this. Time of MongoDB is used meanwhile"
  return { kind: certainMs > NOT_READY_BEYOND_MS ? 'far_apart' : 'apart', reason: 'own_clock', detail }
}

function seconds(ms: number): string {
  return `${(Math.abs(ms) / 1000).toFixed(1)} s`
}
