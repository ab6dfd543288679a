/**
 * The message broker as a narrow port. `kafka-bus.ts` is the real one; `test/memory-bus/` has one in memory. Both pass the contract in
 * `test/bus.contract.ts`. Nothing outside this folder knows kafkajs.
 */
import type { TopicName } from '@backstop/contracts'

export interface OutgoingMessage {
  readonly topic: TopicName
  readonly key: string
  /** Null is a tombstone on a compacted topic. */
  readonly value: Buffer | null
  /** ASCII strings (see contracts/headers.ts). */
  readonly headers: Readonly<Record<string, string>>
}

export interface IncomingMessage {
  readonly topic: TopicName
  readonly partition: number
  readonly offset: bigint
  readonly key: string
  readonly value: Buffer | null
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds since the epoch, from the producer or, on delay lines, from the broker. */
  readonly timestampMs: number
}

export interface Bus {
  /** A producer whose `send` resolves only after the broker's ack of all in-sync replicas. */
  producer(options: ProducerOptions): Producer
  consumer(options: ConsumerOptions): Consumer
}

export interface ProducerOptions {
  /** Overall deadline of one send in milliseconds: past it the send is refused with `unavailable`. */
  readonly sendTimeoutMs: number
}

export interface Producer {
  /** Connects. A broker that is away is no error here: the first send that needs it says so. */
  start(): Promise<void>
  /**
   * Sends all messages and resolves when every one is acknowledged. Messages of one key keep their order within a send;
   * two sends at once may overtake each other.
   * @throws AppError `unavailable` (retryable) when the broker is away or the deadline passed: any of them may still have
   *   been written, so sending again may double a message, and its id is what tells; `message_invalid` when one is too large
   */
  send(messages: readonly OutgoingMessage[]): Promise<void>
  /** Waits for what is in flight, then disconnects. */
  stop(): Promise<void>
}

export interface ConsumerOptions {
  readonly groupId: string
  readonly topics: readonly TopicName[]
  /**
   * When a message's offset may be committed: `taken`, once onBatch has returned it as accepted; or `completed`, once
   * `batch.complete` was called for it (hand-off to slow work: what is committed is the contiguous prefix).
   */
  readonly commit: 'accepted' | 'completed'
  /** How many messages one batch holds at most; 500 when left out. */
  readonly maxBatchMessages?: number
  /** How many partitions are worked on at the same time at most; 4 when left out. */
  readonly maxPartitionsAtOnce?: number
  /** How many bytes of a partition are fetched at once, or one message where that is larger; 2 MiB when left out. */
  readonly maxFetchBytes?: number
  /** How long `stop` waits for the work at hand, in milliseconds; 15000 when left out. */
  readonly drainTimeoutMs?: number
  /**
   * Handles some messages of one partition, in order. It must not throw for a bad message: an exception here is a fault
   * of ours and pauses the partition. It is called for one batch of a partition at a time.
   */
  onBatch(batch: Batch): Promise<BatchProgress>
  /** Called when the consumer cannot go on by itself; the process is to exit. */
  onFatal(error: unknown): void
}

export interface Batch {
  readonly topic: TopicName
  readonly partition: number
  /** In the order of the partition; never empty. */
  readonly messages: readonly IncomingMessage[]
  /**
   * Aborted when this process is stopping or no longer owns the partition; with commit 'accepted' also while the group is
   * formed anew, because the others wait for this batch. What was handled by then is still committed.
   */
  readonly signal: AbortSignal
  /** A sign of life from a long batch: liveness rests on it. Membership in the group is kept up without it. */
  heartbeat(): Promise<void>
  /** With commit 'completed': this message's effect is durable. */
  complete(message: IncomingMessage): void
  /** With commit 'completed', after `signal`: nobody here works on this message any more; `stop` need not wait for it. */
  abandon(message: IncomingMessage): void
}

export interface BatchProgress {
  /** How many leading messages are done with; the rest come again. */
  readonly accepted: number
  /** Pauses the partition for that long before the rest come again. */
  readonly resumeAfterMs?: number
}

export interface Consumer {
  /** Begins to consume and returns at once: a broker or a topic that is away is waited for, however long it takes. */
  start(): Promise<void>
  /** Stops taking messages, waits for the work at hand, commits what is done, leaves the group. */
  stop(): Promise<void>
  /**
   * Milliseconds since the consumer's loop last turned: a fetch, a handled batch, a batch's own heartbeat or a try to
   * reach the broker. A broker that is away does not let it grow; a batch or a client that hangs does. Infinity before
   * `start`. Liveness rests on it.
   */
  msSinceProgress(): number
}
