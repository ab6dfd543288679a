/**
 * Durations counted in buckets, so that medians of many days need no list of all durations. A bucket holds the durations with the same two
 * leading digits, so a median is within 5 % of the exact one. Durations below 100 ms are exact.
 */

/** The lower bound of a bucket in milliseconds, and the number of durations in it. */
export type TimeBucket = readonly [lowerMs: number, count: number]

const LEADING_DIGITS = 2

/** The lower bound of the bucket of a duration in whole milliseconds. Negative durations, of clocks that differ, count as 0. */
export function bucketOf(durationMs: number): number {
  const ms = Math.max(0, durationMs)
  const width = widthAt(ms)
  return Math.floor(ms / width) * width
}

/** The median of durations in buckets, which need no order: the middle of the bucket that contains it. Null if there are none. */
export function medianOf(buckets: readonly TimeBucket[]): number | null {
  const sorted = buckets.toSorted(([a], [b]) => a - b)
  const total = sorted.reduce((sum, [, count]) => sum + count, 0)
  let seen = 0
  for (const [lowerMs, count] of sorted) {
    seen += count
    if (seen * 2 >= total) return lowerMs + Math.floor(widthAt(lowerMs) / 2)
  }
  return null
}

/** Counts durations in buckets, sorted by their lower bounds. */
export function countInBuckets(durationsMs: readonly number[]): TimeBucket[] {
  return sumBuckets(durationsMs.map((duration): TimeBucket => [bucketOf(duration), 1]))
}

/** Adds buckets with the same lower bound, sorted by their lower bounds. */
export function sumBuckets(buckets: readonly TimeBucket[]): TimeBucket[] {
  const counts = new Map<number, number>()
  for (const [lowerMs, count] of buckets) counts.set(lowerMs, (counts.get(lowerMs) ?? 0) + count)
  return [...counts].sort(([a], [b]) => a - b)
}

function widthAt(ms: number): number {
  return 10 ** Math.max(0, String(ms).length - LEADING_DIGITS)
}
