import { pauseMsAfterFailures } from './backoff.ts'

interface Partition {
  readonly topic: string
  readonly partition: number
}

/**
 * Longest pause of a partition, in milliseconds. After MongoDB has returned, messages may wait this long, so it is short;
 * a try costs an unavailable MongoDB nothing.
 */
const LONGEST_PARTITION_PAUSE_MS = 10_000

/** The pauses of a consumer's partitions after failures in a row. */
export class PartitionPauses {
  readonly #failures = new Map<string, number>()

  /** @returns the pause of the partition, in milliseconds */
  failed(partition: Partition): number {
    const failures = (this.#failures.get(idOf(partition)) ?? 0) + 1
    this.#failures.set(idOf(partition), failures)
    return Math.min(pauseMsAfterFailures(failures), LONGEST_PARTITION_PAUSE_MS)
  }

  succeeded(partition: Partition): void {
    this.#failures.delete(idOf(partition))
  }
}

function idOf({ topic, partition }: Partition): string {
  return `${topic}/${partition}`
}
