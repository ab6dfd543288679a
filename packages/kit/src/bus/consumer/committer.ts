import type { Offsets } from 'kafkajs'
import type { Logger } from '../../logger.ts'
import { describeKafkaError } from '../kafka-errors.ts'
import type { OwnedPartition } from './owned-partition.ts'

/** Delay of commits after a completed message, in milliseconds, so that one commit covers several messages. */
const COMMIT_DELAY_MS = 100
/** Pause after a refused commit, in milliseconds. */
const RETRY_MS = 1_000

export type CommitOffsets = (offsets: Offsets) => Promise<void>

/**
 * Commits the completed messages of every owned partition, one request at a time. A refused commit is repeated with the
 * then current offsets. The offsets of a lost partition are never sent, because it is not owned any more.
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

  /** Sets the function that sends a commit. It is known from the first batch on. */
  setCommitFunction(commit: CommitOffsets): void {
    this.#commit = commit
  }

  /** Commits within COMMIT_DELAY_MS, together with other messages completed in that time. */
  requestSoon(): void {
    if (this.#closed) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.flush()
    }, COMMIT_DELAY_MS)
  }

  /** Commits now. Resolves when the broker has answered. Never throws. */
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

  /** Stops all further commits. */
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
        // Refused commits are normal during a rebalance. At worst the messages are delivered again, and all effects are
        // idempotent.
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
