import {
  type Clock,
  type ConsumerMetrics,
  crashPoint,
  type Logger,
  type MessageCodec,
  type OutgoingMessage,
  type Producer,
  untilAvailable,
} from '@backstop/kit'
import type { ChannelHealthKeeper } from '../health/channel-health-keeper.ts'
import { complete, type DeliveryJob } from '../queue/delivery-job.ts'
import { deadDelivery, delayedMessage } from '../retry/delivery-messages.ts'
import type { DeliveryStore } from '../store/delivery-store.ts'
import type { ChannelReports } from '../store/health-store.ts'
import { decideIntake } from './rules/decide-intake.ts'
import type { AttemptOutcome } from './rules/outcome-of-attempt.ts'

/** How an attempt ended, with the job that made it. */
export interface EndedAttempt {
  readonly job: DeliveryJob
  readonly outcome: AttemptOutcome
}

export interface OutcomeWriterOptions {
  readonly deliveries: DeliveryStore
  readonly health: Pick<ChannelHealthKeeper, 'note'>
  readonly producer: Producer
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly logger: Logger
  readonly consumerMetrics: ConsumerMetrics
  /** Called when the document shows the result: the same delivery may be taken up again. */
  onRecorded(job: DeliveryJob): void
  /** Called when the result cannot be made durable any more before the process ends: its messages are to come again. */
  onAbandoned(job: DeliveryJob): void
  /** Called after each flush: there may be room for new work. */
  onFlushed(): void
  onFatal(error: unknown): void
}

const MAX_FLUSH = 500
/** Beyond this many results waiting to be recorded, no new attempt should start: a crash would repeat them all. */
const MAX_BACKLOG = 2 * MAX_FLUSH
/** With so many more waiting while one flush is under way, a second one begins beside it: a database answers late when it is busy. */
const WORTH_A_SECOND = 100

/**
 * Makes results durable, in small batches that form by themselves: what ends during one flush is the next one. The order
 * is what loses nothing: record, then produce what follows (a retry, a dead letter), then let the offset go. A crash
 * between any two steps makes the message come again, and `decideIntake` reads from the document what is still to do.
 */
export class OutcomeWriter {
  readonly #options: OutcomeWriterOptions
  #waiting: EndedAttempt[] = []
  /** Results that are being flushed, and in how many flushes. */
  #flushing = 0
  #flushes = 0
  /** Resolves when the flush that began last has ended. */
  #latest: Promise<void> = Promise.resolve()
  readonly #stopped = new AbortController()

  constructor(options: OutcomeWriterOptions) {
    this.#options = options
  }

  /** Whether so many results wait that new attempts had better not start. */
  get isBehind(): boolean {
    return this.#waiting.length + this.#flushing >= MAX_BACKLOG
  }

  add(ended: EndedAttempt): void {
    this.#waiting.push(ended)
    if (this.#flushes === 2 || (this.#flushes === 1 && this.#waiting.length < WORTH_A_SECOND)) return
    this.#flushes++
    this.#run().catch(error => this.#options.onFatal(error))
  }

  /** Gives up what cannot be made durable now; its messages come again. Call it once the consumer has drained. */
  stop(): void {
    this.#stopped.abort()
  }

  async #run(): Promise<void> {
    // Lets everything that ended in this turn of the event loop be part of the first flush.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_FLUSH)
      this.#flushing += batch.length
      const before = this.#latest
      const flush = this.#flush(batch, before)
      this.#latest = flush
      await flush
      this.#flushing -= batch.length
      this.#options.onFlushed()
    }
    this.#flushes--
  }

  async #flush(batch: readonly EndedAttempt[], before: Promise<void>): Promise<void> {
    try {
      await this.#makeDurable(batch, before)
    } catch (error) {
      if (error !== this.#stopped.signal.reason) throw error
      for (const { job } of batch) this.#options.onAbandoned(job)
    }
  }

  /** @param before only the writes of two flushes overlap: what is told of a channel keeps its order */
  async #makeDurable(batch: readonly EndedAttempt[], before: Promise<void>): Promise<void> {
    const { deliveries, health, producer } = this.#options
    const outcomes = batch.map(({ outcome }) => outcome)
    const refused = await this.#retry('record', () => deliveries.record(outcomes))
    const recorded = batch.filter(({ outcome }) => !refused.has(outcome.deliveryId))
    for (const { job } of batch) this.#options.onRecorded(job)
    crashPoint('notifier.after-record')
    await before
    const news = newsOf(recorded)
    if (news.length > 0) await this.#retry('health', () => health.note(news))
    const follows = await this.#retry('follow', async () => [
      ...recorded.flatMap(({ job, outcome }) => this.#followUp(job, outcome)),
      ...(await this.#followUpOfRefused(batch, refused)),
    ])
    if (follows.length > 0) {
      await this.#retry('produce', () => producer.send(follows))
      crashPoint('notifier.after-retry-produce')
    }
    for (const { job } of batch) complete(job.messages)
  }

  #followUp(job: DeliveryJob, { state, next, attempt, reasonCode, reason }: AttemptOutcome): OutgoingMessage[] {
    const original = job.messages[0]?.message
    if (original === undefined) return []
    if (next !== null) {
      const request = { ...job.request, attempt: attempt + 1 }
      return [delayedMessage(this.#options.codec, request, original.headers, { topic: next.topic, atMs: next.dueAtMs })]
    }
    if (state !== 'dead' || job.request.test) return []
    this.#options.consumerMetrics.deadLettered('deliveries', reasonCode)
    return [deadDelivery(original, reasonCode, reason)]
  }

  /** Somebody else recorded this attempt first, and may have died before producing what follows: the document tells what. */
  async #followUpOfRefused(batch: readonly EndedAttempt[], refused: ReadonlySet<string>): Promise<OutgoingMessage[]> {
    if (refused.size === 0) return []
    const progress = await this.#options.deliveries.progressOf([...refused])
    return batch.flatMap(({ job, outcome }) => {
      const known = progress.get(outcome.deliveryId)
      const original = job.messages[0]?.message
      if (!refused.has(outcome.deliveryId) || original === undefined) return []
      const { delivery_id, channel_id } = job.request
      this.#options.logger.warn({ delivery_id, channel_id, attempt: outcome.attempt }, 'delivery.recorded_elsewhere')
      if (known === undefined) return [deadDelivery(original, 'delivery_unknown', 'The delivery is no longer stored')]
      const intake = decideIntake(outcome.attempt, null, known)
      switch (intake.kind) {
        case 'produce_retry_again': {
          const request = { ...job.request, attempt: intake.attempt }
          const due = { topic: intake.topic, atMs: intake.dueAtMs }
          return [delayedMessage(this.#options.codec, request, original.headers, due)]
        }
        case 'dead_letter_again':
          return job.request.test ? [] : [deadDelivery(original, 'recorded_elsewhere', known.reason)]
        case 'attempt':
        case 'skip':
          return []
        default:
          return intake satisfies never
      }
    })
  }

  #retry<T>(step: string, act: () => Promise<T>): Promise<T> {
    const { clock, logger } = this.#options
    return untilAvailable(act, {
      clock,
      signal: this.#stopped.signal,
      longestPauseMs: LONGEST_PAUSE_MS,
      onFailure: (error, pause_ms) => logger.warn({ step, pause_ms, error }, 'outcomes.not_written'),
    })
  }
}

/** Results wait in memory meanwhile, so a dependency that is back should not be waited for much longer. */
const LONGEST_PAUSE_MS = 5_000

function newsOf(batch: readonly EndedAttempt[]): ChannelReports[] {
  const byChannel = new Map<string, ChannelReports & { news: NonNullable<AttemptOutcome['health']>[] }>()
  for (const { job, outcome } of batch) {
    if (outcome.health === null) continue
    const { channel_id: channelId, project_id: projectId } = job.request
    const known = byChannel.get(channelId)
    if (known === undefined) byChannel.set(channelId, { channelId, projectId, news: [outcome.health] })
    else known.news.push(outcome.health)
  }
  return [...byChannel.values()]
}
