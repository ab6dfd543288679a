/** A message by its place. */
export interface Place {
  readonly topic: string
  readonly partition: number
  readonly offset: bigint
}

interface Range {
  readonly first: bigint
  last: bigint
}

/** Beyond this number of ranges in one partition the oldest is dropped, and its messages are judged again. */
const MAX_RANGES = 100

/** Which messages were judged, as a few ranges of offsets for each partition. */
export class JudgedOffsets {
  readonly #partitions = new Map<string, Range[]>()

  /** Adds a message. The messages of a partition mostly come in order. */
  add(place: Place): void {
    if (this.has(place)) return
    const { offset } = place
    const ranges = this.#partitions.get(partitionOf(place)) ?? []
    this.#partitions.set(partitionOf(place), ranges)
    const last = ranges.at(-1)
    if (last?.last === offset - 1n) last.last = offset
    else ranges.push({ first: offset, last: offset })
    if (ranges.length > MAX_RANGES) ranges.shift()
  }

  has(place: Place): boolean {
    const ranges = this.#partitions.get(partitionOf(place)) ?? []
    return ranges.some(({ first, last }) => first <= place.offset && place.offset <= last)
  }

  clear(): void {
    this.#partitions.clear()
  }
}

function partitionOf({ topic, partition }: Place): string {
  return `${topic}/${partition}`
}
