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
  /** Connects. Does not fail while the broker is unavailable: the first send does. */
  start(): Promise<void>
  /**
   * Sends all messages and resolves when every one is acknowledged. Messages of one key keep their order within a send;
   * two sends at once may overtake each other.
   * @throws AppError `unavailable` (retryable) when the broker is unavailable or the deadline passed. Some messages may still have been
   *   written, so a retry may double them; consumers deduplicate by message id. `message_invalid` when a message is too large
   */
  send(messages: readonly OutgoingMessage[]): Promise<void>
  /** Waits for sends in flight, then disconnects. */
  stop(): Promise<void>
}

export interface ConsumerOptions {
  readonly groupId: string
  readonly topics: readonly TopicName[]
  /**
   * When a message's offset may be committed: `accepted`, when onBatch has returned it as accepted; `completed`, when `batch.complete` was called
   * for it and for all messages before it (hand-off to slow work).
   */
  readonly commit: 'accepted' | 'completed'
  /** How many messages one batch holds at most; 500 when left out. */
  readonly maxBatchMessages?: number
  /** How many partitions are worked on at the same time at most; 4 when left out. */
  readonly maxPartitionsAtOnce?: number
  /** How many bytes of a partition are fetched at once, or one message where that is larger; 2 MiB when left out. */
  readonly maxFetchBytes?: number
  /** How long `stop` waits for work in flight, in milliseconds; 15000 when left out. */
  readonly drainTimeoutMs?: number
  /**
   * Handles messages of one partition, in order, one batch of a partition at a time. It must not throw for a bad message: an exception is a
   * bug and pauses the partition.
   */
  onBatch(batch: Batch): Promise<BatchProgress>
  /** Called when the consumer cannot continue; the process is to exit. */
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
  /** Reports progress of a long batch to the liveness check. Group membership does not depend on it. */
  heartbeat(): Promise<void>
  /** With commit 'completed': this message's effect is durable. */
  complete(message: IncomingMessage): void
  /** With commit 'completed', after `signal`: this process stopped working on the message; `stop` need not wait for it. */
  abandon(message: IncomingMessage): void
}

export interface BatchProgress {
  /** How many leading messages the handler accepted; the rest are handed out again. */
  readonly accepted: number
  /** Pauses the partition for that long before the rest are handed out again. */
  readonly resumeAfterMs?: number
}

export interface Consumer {
  /** Starts consuming and returns at once. Waits without end for an unavailable broker or topic. */
  start(): Promise<void>
  /** Accepts no more messages, waits for work in flight, commits what is done, leaves the group. */
  stop(): Promise<void>
  /**
   * Milliseconds since the last fetch, handled batch, heartbeat of a batch or attempt to reach the broker. It grows while a batch or the client
   * hangs, not while the broker is unavailable. Infinity before `start`. The liveness check uses it.
   */
  msSinceProgress(): number
}
