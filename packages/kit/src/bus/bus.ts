/**
 * The message broker as a narrow port with two implementations: `kafka-bus.ts` and, in memory, `test/memory-bus.ts`. Both
 * pass the contract in `test/bus.contract.ts`. Code outside this folder does not depend on kafkajs.
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
  /** Set by the producer, or on delay lines by the broker, in milliseconds since the epoch. */
  readonly timestampMs: number
}

export interface Bus {
  /** Creates a producer whose `send` resolves after all in-sync replicas have acknowledged. */
  producer(options: ProducerOptions): Producer
  consumer(options: ConsumerOptions): Consumer
}

export interface ProducerOptions {
  /** Time limit of one send, in milliseconds. After it the send fails with `unavailable`. */
  readonly sendTimeoutMs: number
}

export interface Producer {
  /** Connects. If the broker is unavailable, `start` succeeds and the first send fails. */
  start(): Promise<void>
  /**
   * Sends all messages and resolves when every message is acknowledged. Messages with the same key keep their order
   * within one send, but not across concurrent sends.
   * @throws AppError `unavailable` (retryable) if the broker is unavailable or the time limit has passed. Some messages
   * may still have been written, so a retry may duplicate them; consumers deduplicate by message id. `message_invalid`
   * if a message is too large
   */
  send(messages: readonly OutgoingMessage[]): Promise<void>
  /** Waits for sends in flight, then disconnects. */
  stop(): Promise<void>
}

export interface ConsumerOptions {
  readonly groupId: string
  readonly topics: readonly TopicName[]
  /**
   * When a message's offset may be committed. `accepted`: when onBatch has accepted the message. `completed`: when
   * `batch.complete` was called for this message and all messages before it (for messages handed off to slow work).
   */
  readonly commit: 'accepted' | 'completed'
  /**
   * Reads only messages of the last so many milliseconds: each assignment of partitions begins with them, whatever was read before, and no
   * offset is committed. While Kafka does not answer which they are, it begins at the end. Unset, the group reads every message.
   */
  readonly onlyRecentMs?: number
  /** Maximum number of messages in one batch; 500 by default. */
  readonly maxBatchMessages?: number
  /** Maximum number of partitions that are processed concurrently; 4 by default. */
  readonly maxPartitionsAtOnce?: number
  /**
   * Maximum number of bytes fetched from one partition at a time, partly compressed (a single larger message is still fetched); 2 MiB by
   * default.
   */
  readonly maxFetchBytes?: number
  /**
   * How long the broker may keep a fetch that finds no message while a partition is paused, in milliseconds; 250 by default. It is also the
   * longest delay until a resumed partition is fetched, because a fetch in flight does not include it. Without a paused partition a fetch
   * waits at least a second. Messages of partitions that are not paused come at once.
   */
  readonly fetchWaitMs?: number
  /** How long `stop` waits for messages in progress, in milliseconds; 15000 by default. */
  readonly drainTimeoutMs?: number
  /**
   * Handles messages of one partition, in order, one batch of a partition at a time. Must not throw for a bad message:
   * an exception is a bug and pauses the partition.
   */
  onBatch(batch: Batch): Promise<BatchProgress>
  /** Called when the consumer cannot continue. The process should exit. */
  onFatal(error: unknown): void
}

export interface Batch {
  readonly topic: TopicName
  readonly partition: number
  /** The messages in the order of the partition; never empty. */
  readonly messages: readonly IncomingMessage[]
  /**
   * Aborted when this process stops or no longer owns the partition. With commit 'accepted' it is also aborted during a
   * rebalance, because the other members wait for this batch. Messages accepted before are still committed.
   */
  readonly signal: AbortSignal
  /** Reports progress of a long batch to the liveness check. Group membership does not depend on heartbeats. */
  heartbeat(): Promise<void>
  /** With commit 'completed': marks the message's effect as durable. */
  complete(message: IncomingMessage): void
  /**
   * With commit 'completed', after `signal`: marks that this process stopped working on the message, so that `stop`
   * does not wait for it.
   */
  abandon(message: IncomingMessage): void
}

export interface BatchProgress {
  /** Number of leading messages that the handler accepted. The other messages are delivered again. */
  readonly accepted: number
  /** Pause of the partition before its other messages are delivered again, in milliseconds. */
  readonly resumeAfterMs?: number
}

export interface Consumer {
  /** Starts consuming and returns at once. Waits without limit for an unavailable broker or a missing topic. */
  start(): Promise<void>
  /** Fetches no more messages, waits for messages in progress, commits and leaves the group. */
  stop(): Promise<void>
  /**
   * Milliseconds since the last fetch, handled batch, heartbeat of a batch, or attempt to reach the broker; Infinity
   * before `start`. The liveness check uses it: the value grows while a batch or the client hangs, but not while the
   * broker is unavailable.
   */
  msSinceProgress(): number
}
