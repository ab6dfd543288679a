/**
 * The message broker as a narrow port. `kafka-bus.ts` is the real one, `memory-bus.ts` its twin for simulation; both
 * pass `bus.contract.ts`. Nothing outside this folder knows kafkajs.
 */
import type { TopicName } from '@backstop/contracts'

export interface OutgoingMessage {
  readonly topic: TopicName
  readonly key: string
  readonly value: Buffer
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
  start(): Promise<void>
  /**
   * Sends all messages and resolves when every one is acknowledged.
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
   * When a message's offset may be committed: `taken`, once onBatch has returned it as taken; or `completed`, once
   * `batch.complete` was called for it (hand-off to slow work: what is committed is the contiguous prefix).
   */
  readonly commit: 'taken' | 'completed'
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
  readonly messages: readonly IncomingMessage[]
  /** Aborted when this process no longer owns the partition or is stopping. */
  readonly signal: AbortSignal
  /** Tells the broker that this long batch is still alive. */
  heartbeat(): Promise<void>
  /** With commit 'completed': this message's effect is durable. */
  complete(message: IncomingMessage): void
}

export interface BatchProgress {
  /** How many leading messages are done with; the rest come again. */
  readonly taken: number
  /** Pauses the partition for that long before the rest come again. */
  readonly resumeAfterMs?: number
}

export interface Consumer {
  start(): Promise<void>
  /** Stops taking messages, waits for the batch at work, commits what is done, leaves the group. */
  stop(): Promise<void>
  /** Milliseconds since the consumer last fetched or beat; Infinity before the first. Liveness rests on it. */
  msSinceProgress(): number
}
