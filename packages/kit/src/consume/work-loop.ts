import type { MessageName, TopicName } from '@backstop/contracts'
import type { Batch, BatchProgress, Bus, IncomingMessage, Producer } from '../bus/bus.ts'
import type { Clock } from '../clock/clock.ts'
import { crashPoint } from '../crash-points.ts'
import { AppError, isRetryable } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { MessageCodec } from '../registry/message-codec.ts'
import { LONGEST_PAUSE_MS } from '../retry/backoff.ts'
import { PartitionPauses } from '../retry/partition-pauses.ts'
import type { ConsumerMetrics } from './consumer-metrics.ts'
import { deadLetter } from './dead-letter.ts'
import type { Received } from './received.ts'

export interface WorkLoopOptions<N extends MessageName> {
  readonly bus: Bus
  /** Carries the dead letters; started and stopped by its owner. */
  readonly producer: Producer
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ConsumerMetrics
  readonly groupId: string
  /** The topics to work on, each with the message type it carries. */
  readonly topics: Readonly<Partial<Record<TopicName, N>>>
  /** Where messages go that cannot be used. */
  readonly deadTopic: TopicName
  /** Records dead letters, where messages come again under an id of their own; nothing is recorded when left out. */
  readonly deadLetterLog?: DeadLetterLog
  /** How many messages `handle` gets at most; the bus's own number when left out. */
  readonly maxBatchMessages?: number
  /**
   * Makes the effects of these messages durable, in their order; doing so again must change nothing. An AppError that is
   * retryable defers the batch; any other error is narrowed down to the message that causes it, which is dead-lettered.
   */
  handle(messages: Received<N>[], context: WorkContext): Promise<void>
  /** Called when the loop cannot go on; the process is to exit. */
  onFatal(error: unknown): void
}

/** A message that cannot be used, and why. */
export interface DeadLettered {
  readonly message: IncomingMessage
  readonly error: unknown
}

/** The record of dead letters. An AppError that is retryable defers the batch. */
export interface DeadLetterLog {
  /** Which of these it has: they are acknowledged, and not dead-lettered a second time. */
  known(messages: readonly IncomingMessage[]): Promise<ReadonlySet<IncomingMessage>>
  /** Called once the broker has their dead letters, and before they are acknowledged; doing so again must change nothing. */
  record(unusable: readonly DeadLettered[]): Promise<void>
}

export interface WorkContext {
  /** Aborted when the work should come to an end: what is not handled by then comes again, here or elsewhere. */
  readonly signal: AbortSignal
  /** A sign of life from a long batch. */
  heartbeat(): Promise<void>
}

export interface WorkLoop {
  start(): Promise<void>
  stop(): Promise<void>
  /** See Consumer.msSinceProgress. */
  msSinceProgress(): number
}

/**
 * How many messages in a row may be dead-lettered because `handle` failed on each alone. An error with every message is a bug
 * or an outage that no error reports: the loop then slows down instead of dead-lettering a whole topic.
 */
const MAX_DEAD_LETTERS_IN_A_ROW = 10

/** The one consumer loop: decode, handle, acknowledge. No message stops a partition, and none is passed over silently. */
export function createWorkLoop<N extends MessageName>(options: WorkLoopOptions<N>): WorkLoop {
  const pauses = new PartitionPauses()
  const consumer = options.bus.consumer({
    groupId: options.groupId,
    topics: Object.keys(options.topics) as TopicName[],
    commit: 'accepted',
    ...(options.maxBatchMessages === undefined ? {} : { maxBatchMessages: options.maxBatchMessages }),
    onFatal: options.onFatal,
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
  return {
    start: () => consumer.start(),
    stop: () => consumer.stop(),
    msSinceProgress: () => consumer.msSinceProgress(),
  }
}

/** How the work on a batch came to its end. */
type End =
  | { readonly kind: 'done' }
  | { readonly kind: 'interrupted' }
  /** A dependency is unavailable, or other writers won. */
  | { readonly kind: 'deferred'; readonly error: AppError }
  /** Message after message fails alone. */
  | { readonly kind: 'slowed_down'; readonly error: unknown }

function progressOf<N extends MessageName>(
  { logger, metrics, groupId }: WorkLoopOptions<N>,
  batch: Batch,
  accepted: number,
  end: End,
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

type Item<N extends MessageName> =
  | { readonly kind: 'usable'; readonly received: Received<N> }
  | { readonly kind: 'unusable'; readonly error: AppError }

/** One batch in progress: `taken` leading messages are done, each handled or dead-lettered. */
class BatchWork<N extends MessageName> {
  readonly #options: WorkLoopOptions<N>
  readonly #batch: Batch
  accepted = 0
  #deadLettersInARow = 0

  constructor(options: WorkLoopOptions<N>, batch: Batch) {
    this.#options = options
    this.#batch = batch
  }

  async run(): Promise<End> {
    const { items, end } = await this.#decode()
    const handled = await this.#work(items)
    return handled.kind === 'done' ? end : handled
  }

  /** Decodes up to the first message whose schema cannot be looked up now. */
  async #decode(): Promise<{ items: Item<N>[]; end: End }> {
    const name = this.#options.topics[this.#batch.topic]
    if (name === undefined) throw new AppError('internal', `${this.#batch.topic} has no message type in this loop`)
    const receivedAtMs = this.#options.clock.now()
    const items: Item<N>[] = []
    for (const { headers, key, topic, partition, offset, value } of this.#batch.messages) {
      try {
        const message = await this.#options.codec.decode(name, value)
        const received = { name, message, headers, key, topic, partition, offset, receivedAtMs }
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
   * Handles the items from `taken` on, halving what fails until the message that fails alone is found. Order within the
   * partition is kept: no message is handled before all messages in front of it are handled or dead-lettered.
   */
  async #work(items: readonly Item<N>[]): Promise<End> {
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
      // The work came to an end because it was asked to; that says nothing about the messages.
      if (this.#batch.signal.aborted) return { kind: 'interrupted' }
      return usable.length === 1 ? this.#deadLetterCulprit(items, error) : this.#halve(items, error)
    }
    return this.#acknowledge(items, undefined)
  }

  async #halve(items: readonly Item<N>[], error: unknown): Promise<End> {
    const { topic, partition } = this.#batch
    this.#options.logger.error({ topic, partition, messages: items.length, error }, 'batch.halved')
    const middle = Math.ceil(items.length / 2)
    const end = await this.#work(items.slice(0, middle))
    return end.kind === 'done' ? this.#work(items.slice(middle)) : end
  }

  /** Dead-letters the one usable item of these, which `handle` failed on, and the unusable ones beside it. */
  async #deadLetterCulprit(items: readonly Item<N>[], error: unknown): Promise<End> {
    const end = await this.#acknowledge(items, error)
    if (end.kind !== 'done') return end
    // A verdict on the message itself says nothing about the next one: whoever sends many such must not slow others down.
    if (error instanceof AppError && error.code === 'message_invalid') return end
    this.#deadLettersInARow += 1
    return this.#deadLettersInARow < MAX_DEAD_LETTERS_IN_A_ROW ? end : { kind: 'slowed_down', error }
  }

  /** Acknowledges these items once every dead letter among them is acknowledged by the broker, and booked. */
  async #acknowledge(items: readonly Item<N>[], handleError: unknown): Promise<End> {
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

  /** A crash in between dead-letters a message twice, and never loses one: the record comes after the dead letter. */
  async #deadLetter(unusable: readonly DeadLettered[]): Promise<void> {
    const { producer, deadTopic, deadLetterLog } = this.#options
    const known = await deadLetterLog?.known(unusable.map(({ message }) => message))
    const isKnown = ({ message }: DeadLettered) => known?.has(message) === true
    for (const again of unusable.filter(isKnown)) this.#log('message.dead_lettered_before', again)
    const fresh = unusable.filter(one => !isKnown(one))
    if (fresh.length === 0) return
    await producer.send(fresh.map(({ message, error }) => deadLetter(message, deadTopic, error)))
    crashPoint('work.dead-lettered')
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

function codeOf(error: unknown): string {
  return error instanceof AppError ? error.code : 'internal'
}
