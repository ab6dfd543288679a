import { dueAtOf, type MessageName, type TopicName } from '@backstop/contracts'
import type { Batch, BatchProgress, Bus, Consumer, ConsumerOptions, IncomingMessage, Producer } from '../bus/bus.ts'
import { type Clock, MAX_CLOCK_DIFFERENCE_MS } from '../clock/clock.ts'
import { AppError, isRetryable } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { MessageCodec } from '../registry/message-codec.ts'
import { LONGEST_PAUSE_MS } from '../retry/backoff.ts'
import { PartitionPauses } from '../retry/partition-pauses.ts'
import type { ConsumerMetrics } from './consumer-metrics.ts'
import { deadLetter } from './dead-letter.ts'
import type { Received } from './received.ts'

/** The options of the bus that apply to a loop as they are. */
type LoopConsumerOptions = Pick<
  ConsumerOptions,
  'groupId' | 'maxBatchMessages' | 'maxPartitionsAtOnce' | 'maxFetchBytes' | 'onlyRecentMs' | 'onFatal'
>

export interface WorkLoopOptions<N extends MessageName> extends LoopConsumerOptions {
  readonly bus: Bus
  /** Sends the dead letters. The caller starts and stops it. */
  readonly producer: Producer
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ConsumerMetrics
  /** The topics to consume, each with its message type. */
  readonly topics: Readonly<Partial<Record<TopicName, N>>>
  /** The topic for unusable messages. Null skips them, if another consumer reads the same messages. */
  readonly deadTopic: TopicName | null
  /** Records dead letters, for messages that may be delivered again under the same id. Optional. */
  readonly deadLetterLog?: DeadLetterLog
  /**
   * Makes the effects of these messages durable, in order. Must be idempotent. A retryable AppError defers the batch;
   * after any other error the loop finds the message that causes it and dead-letters the message.
   */
  handle(messages: Received<N>[], context: WorkContext): Promise<void>
}

/** An unusable message with the reason. */
export interface DeadLettered {
  readonly message: IncomingMessage
  readonly error: unknown
}

/** A record of dead letters. A retryable AppError defers the batch. */
export interface DeadLetterLog {
  /** Returns the messages that are already recorded: they are acknowledged without a second dead letter. */
  known(messages: readonly IncomingMessage[]): Promise<ReadonlySet<IncomingMessage>>
  /**
   * Called when the broker has acknowledged the dead letters, before their messages are acknowledged. Must be
   * idempotent.
   */
  record(unusable: readonly DeadLettered[]): Promise<void>
  /** Called with the messages that are already recorded, before they are acknowledged. Must be idempotent. */
  recordAgain(unusable: readonly DeadLettered[]): Promise<void>
}

export interface WorkContext {
  /**
   * Aborted when the work should end. Messages that are not handled by then are delivered again, to this process or
   * another.
   */
  readonly signal: AbortSignal
  /** Reports progress of a long batch. */
  heartbeat(): Promise<void>
}

/**
 * Maximum number of messages in a row that are dead-lettered because `handle` failed on each alone. A fault that
 * affects every message is a bug or an unavailable dependency without a retryable error: the loop then slows down
 * instead of dead-lettering a whole topic.
 */
const MAX_DEAD_LETTERS_IN_A_ROW = 10

/**
 * The consumer loop of all services: decode, handle, acknowledge. No message blocks a partition, and none is skipped
 * silently.
 */
export function createWorkLoop<N extends MessageName>(options: WorkLoopOptions<N>): Consumer {
  const pauses = new PartitionPauses()
  return options.bus.consumer({
    ...options,
    topics: Object.keys(options.topics) as TopicName[],
    commit: 'accepted',
    async onBatch(batch) {
      const startedAt = options.clock.now()
      const work = new BatchWork(options, batch)
      const end = await work.run()
      const durationMs = options.clock.now() - startedAt
      if (work.accepted > 0) options.metrics.handled(batch.topic, work.accepted, durationMs)
      if (end.kind !== 'deferred' || work.accepted > 0) pauses.succeeded(batch)
      return progressOf(options, batch, work.accepted, end, pauses)
    },
  })
}

/** The result of the work on a batch. */
type BatchEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'interrupted' }
  /** The next message was released by a process whose clock is ahead of this one. */
  | { readonly kind: 'early'; readonly resumeAfterMs: number }
  /** A dependency is unavailable, or concurrent writers won. */
  | { readonly kind: 'deferred'; readonly error: AppError }
  /** Many messages in a row failed alone. */
  | { readonly kind: 'slowed_down'; readonly error: unknown }

function progressOf<N extends MessageName>(
  { logger, metrics, groupId }: WorkLoopOptions<N>,
  batch: Batch,
  accepted: number,
  end: BatchEnd,
  pauses: PartitionPauses,
): BatchProgress {
  const facts = {
    group: groupId,
    topic: batch.topic,
    partition: batch.partition,
    messages: batch.messages.length,
    accepted,
  }
  switch (end.kind) {
    case 'done':
      logger.debug(facts, 'batch.handled')
      return { accepted }
    case 'interrupted':
      return { accepted }
    case 'early':
      return { accepted, resumeAfterMs: end.resumeAfterMs }
    case 'deferred': {
      const resumeAfterMs = pauses.failed(batch)
      metrics.deferred(batch.topic)
      logger.warn({ ...facts, resume_after_ms: resumeAfterMs, error: end.error }, 'batch.deferred')
      return { accepted, resumeAfterMs }
    }
    case 'slowed_down':
      logger.error({ ...facts, resume_after_ms: LONGEST_PAUSE_MS, error: end.error }, 'batch.slowed_down')
      return { accepted, resumeAfterMs: LONGEST_PAUSE_MS }
    default:
      return end satisfies never
  }
}

type BatchItem<N extends MessageName> =
  | { readonly kind: 'usable'; readonly received: Received<N> }
  | { readonly kind: 'unusable'; readonly error: AppError }

/** The work on one batch. `accepted` is the number of leading messages that are handled or dead-lettered. */
class BatchWork<N extends MessageName> {
  readonly #options: WorkLoopOptions<N>
  readonly #batch: Batch
  accepted = 0
  #deadLettersInARow = 0

  constructor(options: WorkLoopOptions<N>, batch: Batch) {
    this.#options = options
    this.#batch = batch
  }

  async run(): Promise<BatchEnd> {
    const { items, end } = await this.#decode()
    const handled = await this.#handleItems(items)
    return handled.kind === 'done' ? end : handled
  }

  /** Decodes up to the first message that is early or whose schema cannot be fetched now. */
  async #decode(): Promise<{ items: BatchItem<N>[]; end: BatchEnd }> {
    const name = this.#options.topics[this.#batch.topic]
    if (name === undefined) throw new AppError('internal', `${this.#batch.topic} has no message type in this loop`)
    const receivedAtMs = this.#options.clock.now()
    const items: BatchItem<N>[] = []
    for (const { value, ...origin } of this.#batch.messages) {
      const earlyMs = earlyByMs(origin, receivedAtMs)
      if (earlyMs > 0) return { items, end: { kind: 'early', resumeAfterMs: earlyMs } }
      try {
        const message = await this.#options.codec.decode(name, value)
        const received = { name, message, ...origin, receivedAtMs }
        items.push({ kind: 'usable', received: received as Received<N> })
      } catch (error) {
        const known =
          error instanceof AppError
            ? error
            : new AppError('message_invalid', 'The message cannot be decoded', { cause: error })
        if (known.retryable) return { items, end: { kind: 'deferred', error: known } }
        items.push({ kind: 'unusable', error: known })
      }
    }
    return { items, end: { kind: 'done' } }
  }

  /**
   * Handles the items from `accepted` on, and halves a failing range until the failing message is found. Keeps the
   * order of the partition: a message is handled only after the message before it is handled or dead-lettered.
   */
  async #handleItems(items: readonly BatchItem<N>[]): Promise<BatchEnd> {
    if (items.length === 0) return { kind: 'done' }
    if (this.#batch.signal.aborted) return { kind: 'interrupted' }
    const usable = items.flatMap(item => (item.kind === 'usable' ? [item.received] : []))
    try {
      if (usable.length > 0) {
        await this.#options.handle(usable, { signal: this.#batch.signal, heartbeat: () => this.#batch.heartbeat() })
        this.#deadLettersInARow = 0
      }
    } catch (error) {
      if (isRetryable(error)) return { kind: 'deferred', error }
      // The work was interrupted, so the error says nothing about the messages.
      if (this.#batch.signal.aborted) return { kind: 'interrupted' }
      return usable.length === 1 ? this.#deadLetterCulprit(items, error) : this.#handleHalves(items, error)
    }
    return this.#acknowledge(items, undefined)
  }

  async #handleHalves(items: readonly BatchItem<N>[], error: unknown): Promise<BatchEnd> {
    const { topic, partition } = this.#batch
    this.#options.logger.error({ topic, partition, messages: items.length, error }, 'batch.halved')
    const middle = Math.ceil(items.length / 2)
    const end = await this.#handleItems(items.slice(0, middle))
    return end.kind === 'done' ? this.#handleItems(items.slice(middle)) : end
  }

  /** Dead-letters the only usable item, for which `handle` failed, and the unusable items beside it. */
  async #deadLetterCulprit(items: readonly BatchItem<N>[], error: unknown): Promise<BatchEnd> {
    const end = await this.#acknowledge(items, error)
    if (end.kind !== 'done' || this.#options.deadTopic === null) return end
    // An invalid message says nothing about the next one. A sender of many invalid messages must not slow down the
    // other senders.
    if (error instanceof AppError && error.code === 'message_invalid') return end
    this.#deadLettersInARow += 1
    return this.#deadLettersInARow < MAX_DEAD_LETTERS_IN_A_ROW ? end : { kind: 'slowed_down', error }
  }

  /** Acknowledges these items after all dead letters among them are sent and recorded. */
  async #acknowledge(items: readonly BatchItem<N>[], handleError: unknown): Promise<BatchEnd> {
    const unusable: DeadLettered[] = []
    items.forEach((item, index) => {
      const message = this.#batch.messages[this.accepted + index]!
      if (item.kind === 'unusable') unusable.push({ message, error: item.error })
      else if (handleError !== undefined) unusable.push({ message, error: handleError })
    })
    if (unusable.length > 0) {
      try {
        await this.#deadLetter(unusable)
      } catch (error) {
        const canRetry = isRetryable(error)
        return canRetry ? { kind: 'deferred', error } : { kind: 'slowed_down', error }
      }
    }
    this.accepted += items.length
    return { kind: 'done' }
  }

  /**
   * Sends the dead letter before recording it: a crash between the two steps dead-letters a message twice but never
   * loses it.
   */
  async #deadLetter(unusable: readonly DeadLettered[]): Promise<void> {
    const { producer, deadTopic, deadLetterLog } = this.#options
    if (deadTopic === null) return
    const known = await deadLetterLog?.known(unusable.map(({ message }) => message))
    const isKnown = ({ message }: DeadLettered) => known?.has(message) === true
    const again = unusable.filter(isKnown)
    for (const one of again) this.#log('message.dead_lettered_before', one)
    if (again.length > 0) await deadLetterLog?.recordAgain(again)
    const fresh = unusable.filter(one => !isKnown(one))
    if (fresh.length === 0) return
    await producer.send(fresh.map(({ message, error }) => deadLetter(message, deadTopic, error)))
    for (const one of fresh) {
      this.#options.metrics.deadLettered(one.message.topic, codeOf(one.error))
      this.#log('message.dead_lettered', one)
    }
    await deadLetterLog?.record(fresh)
  }

  #log(what: 'message.dead_lettered' | 'message.dead_lettered_before', { message, error }: DeadLettered): void {
    const { topic, partition, offset } = message
    const { deadTopic: dead_topic } = this.#options
    this.#options.logger.warn(
      { topic, partition, offset: String(offset), dead_topic, code: codeOf(error), error },
      what,
    )
  }
}

/** How early a message from a delay line is by the clock of this process, in milliseconds: clocks differ between machines. */
function earlyByMs(message: Pick<IncomingMessage, 'headers'>, nowMs: number): number {
  const earlyMs = (dueAtOf(message) ?? nowMs) - nowMs
  return earlyMs <= MAX_CLOCK_DIFFERENCE_MS ? earlyMs : 0
}

function codeOf(error: unknown): string {
  return error instanceof AppError ? error.code : 'internal'
}
