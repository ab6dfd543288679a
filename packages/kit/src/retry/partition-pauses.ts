import { pauseMsAfterFailures } from './backoff.ts'

interface Partition {
  readonly topic: string
  readonly partition: number
}

/** The pauses of a consumer's partitions after failures in a row. */
export class PartitionPauses {
  readonly #failures = new Map<string, number>()

  /** @returns the pause of the partition, in milliseconds */
  failed(partition: Partition): number {
    const failures = (this.#failures.get(idOf(partition)) ?? 0) + 1
    this.#failures.set(idOf(partition), failures)
    return pauseMsAfterFailures(failures)
  }

  succeeded(partition: Partition): void {
    this.#failures.delete(idOf(partition))
  }
}

function idOf({ topic, partition }: Partition): string {
  return `${topic}/${partition}`
}
