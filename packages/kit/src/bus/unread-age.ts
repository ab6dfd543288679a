/** The end of a partition at the time of a reading. */
interface PartitionEnd {
  readonly end: bigint
  readonly atMs: number
}

/** The readings of one partition that say how old its unread messages are, oldest first. */
export type PartitionEnds = readonly PartitionEnd[]

/** Above this number every second reading is dropped: an age of hours need not be known to seconds. */
const MAX_READINGS = 64

/**
 * Adds a reading of a partition, and returns the age of its oldest unread message. The message at the committed offset was
 * there at the first reading whose end is behind it. So the age is too small by at most the time between two readings, and begins at 0
 * when the process starts.
 * @param committed the offset of the first message that its group has not processed
 */
export function addReading(
  known: PartitionEnds,
  { end, committed, atMs }: { end: bigint; committed: bigint; atMs: number },
): { readonly ends: PartitionEnds; readonly lag: bigint; readonly ageMs: number } {
  if (end <= committed) return { ends: [], lag: 0n, ageMs: 0 }
  const unread = known.filter(reading => reading.end > committed && reading.end <= end)
  const isGrown = unread.at(-1)?.end !== end
  const all = isGrown ? [...unread, { end, atMs }] : unread
  const ends = all.length > MAX_READINGS ? all.filter((_, index) => index % 2 === 0 || index === all.length - 1) : all
  return { ends, lag: end - committed, ageMs: atMs - (ends[0]?.atMs ?? atMs) }
}
