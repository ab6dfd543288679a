import type { Offsets } from 'kafkajs'
import type { Logger } from '../logger.ts'
import { describeKafkaError } from './kafka-errors.ts'
import type { OwnedPartition } from './owned-partition.ts'

/** Handed-off messages are completed one by one: commits wait this long for more of them, in milliseconds. */
const GATHER_MS = 100
/** Pause after a refused commit, in milliseconds. */
const RETRY_MS = 1_000

export type CommitOffsets = (offsets: Offsets) => Promise<void>

/**
 * Commits the completed prefix of every owned partition, one request at a time. A refused commit is repeated with the offsets of that time. A
 * partition that was lost meanwhile is no longer owned, so its offsets are never sent under the new generation.
 */
export class Committer {
  readonly #owned: () => Iterable<OwnedPartition>
  readonly #logger: Logger
  #commit: CommitOffsets | undefined
  #running: Promise<void> | undefined
  #again = false
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(owned: () => Iterable<OwnedPartition>, logger: Logger) {
    this.#owned = owned
    this.#logger = logger
  }

  /** Sets the function that sends a commit; known from the first batch on. */
  use(commit: CommitOffsets): void {
    this.#commit = commit
  }

  /** Commits soon, together with messages completed within GATHER_MS. */
  requestSoon(): void {
    if (this.#closed) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.flush()
    }, GATHER_MS)
  }

  /** Commits now; resolves when the broker has answered. Never throws. */
  flush(): Promise<void> {
    if (this.#closed) return Promise.resolve()
    if (this.#running !== undefined) {
      this.#again = true
      return this.#running
    }
    this.#running = this.#commitAll().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** Nothing is committed from now on. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  async #commitAll(): Promise<void> {
    do {
      this.#again = false
      const ready = [...this.#owned()].flatMap(owned => {
        const offset = owned.tracker.committable()
        return offset === undefined ? [] : [{ owned, offset }]
      })
      if (ready.length === 0 || this.#commit === undefined) continue
      try {
        await this.#commit(offsetsOf(ready))
        for (const { owned, offset } of ready) owned.tracker.committed(offset)
      } catch (error) {
        // Routine during a rebalance. At worst the messages are delivered again, and all effects are idempotent.
        this.#logger.debug({ error: describeKafkaError(error) }, 'consumer.commit_refused')
        if (!this.#closed) this.#timer ??= setTimeout(() => this.#retry(), RETRY_MS)
        return
      }
    } while (this.#again)
  }

  #retry(): void {
    this.#timer = undefined
    void this.flush()
  }
}

function offsetsOf(ready: readonly { owned: OwnedPartition; offset: bigint }[]): Offsets {
  const byTopic = new Map<string, { partition: number; offset: string }[]>()
  for (const { owned, offset } of ready) {
    const partitions = byTopic.get(owned.brokerTopic) ?? []
    byTopic.set(owned.brokerTopic, partitions)
    partitions.push({ partition: owned.partition, offset: offset.toString() })
  }
  return { topics: [...byTopic].map(([topic, partitions]) => ({ topic, partitions })) }
}
