import type { OutgoingMessage, Producer } from '@backstop/kit/bus'
import { type Clock, sleep } from '@backstop/kit/clock'
import type { ConsumerMetrics } from '@backstop/kit/consume'
import type { Logger } from '@backstop/kit/logger'
import type { MessageCodec } from '@backstop/kit/registry'
import { untilAvailable } from '@backstop/kit/retry'
import { type DeliveryStore, withOutcome } from '../delivery-record/delivery-store.ts'
import type { ChannelHealthKeeper } from '../health/channel-health-keeper.ts'
import type { ChannelReports } from '../health/health-store.ts'
import type { Recovery } from '../health/rules/channel-health.ts'
import type { ActiveDeliveries } from '../jobs/active-deliveries.ts'
import { complete, type DeliveryJob, documentOf } from '../jobs/delivery-job.ts'
import { countDeadLetters, deadLetterOfDelivery, delayedMessage } from '../retry/delivery-messages.ts'
import { decideIntake } from './rules/decide-intake.ts'
import type { AttemptOutcome } from './rules/outcome-of-attempt.ts'

/** The outcome of an attempt with its job. */
export interface EndedAttempt {
  readonly job: DeliveryJob
  readonly outcome: AttemptOutcome
}

export interface OutcomeWriterOptions {
  readonly deliveries: Pick<DeliveryStore, 'insertNew' | 'record' | 'progressOf'>
  readonly health: Pick<ChannelHealthKeeper, 'note' | 'disableFailing'>
  readonly producer: Producer
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly logger: Logger
  readonly consumerMetrics: ConsumerMetrics
  readonly active: Pick<ActiveDeliveries, 'isUnstored'>
  /** Called when the outcome is recorded: a new message may start the delivery's next attempt. */
  onRecorded(job: DeliveryJob): void
  /** Called when an outcome cannot be made durable before the process stops: Kafka delivers its messages again. */
  onAbandoned(job: DeliveryJob): void
  /** Called when a channel with a recorded pause works again. */
  onRecovered(recovery: Recovery): void
  /** Called after each flush, which frees memory for new jobs. */
  onFlushed(): void
  onFatal(error: unknown): void
}

const MAX_FLUSH = 500
/**
 * Maximum number of unrecorded outcomes before new attempts stop, because a crash repeats the attempts of all
 * unrecorded outcomes.
 */
const MAX_BACKLOG = 2 * MAX_FLUSH
/**
 * Number of waiting outcomes at which a second flush starts beside the first, because a busy database answers slowly.
 */
const WORTH_A_SECOND = 200
/**
 * After a flush of at least this many outcomes more of them follow at once. The next flush gathers them for some milliseconds, because
 * a command costs this process and MongoDB as much as the documents of thirty outcomes.
 */
const SHOWS_LOAD = 10
const GATHER_MS = 20

/**
 * Makes outcomes durable in batches: outcomes that arrive during a flush form the next batch. The order prevents loss:
 * first record, then produce the next message (retry or dead letter), then commit the offset. After a crash between two
 * steps Kafka delivers the message again, and `decideIntake` reads the remaining steps from the document. A channel whose receiver is gone
 * is disabled before the record, because the document does not say so.
 */
export class OutcomeWriter {
  readonly #options: OutcomeWriterOptions
  #waiting: EndedAttempt[] = []
  /** Number of outcomes that are being flushed. */
  #flushing = 0
  #flushes = 0
  /** Resolves when the most recently started flush has ended. */
  #latest: Promise<void> = Promise.resolve()
  readonly #stopped = new AbortController()

  constructor(options: OutcomeWriterOptions) {
    this.#options = options
  }

  /** True if so many outcomes are unrecorded that no new attempt may start. */
  get isBacklogFull(): boolean {
    return this.#waiting.length + this.#flushing >= MAX_BACKLOG
  }

  add(ended: EndedAttempt): void {
    this.#waiting.push(ended)
    if (this.#flushes === 2 || (this.#flushes === 1 && this.#waiting.length < WORTH_A_SECOND)) return
    this.#flushes++
    this.#run().catch(error => this.#options.onFatal(error))
  }

  /**
   * Abandons the outcomes that are not durable yet; Kafka delivers their messages again. Call it after the consumer has
   * drained.
   */
  stop(): void {
    this.#stopped.abort()
  }

  async #run(): Promise<void> {
    // Waits for one microtask, so that all attempts that ended in this turn of the event loop join the first flush.
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
      if (batch.length >= SHOWS_LOAD) await sleep(this.#options.clock, GATHER_MS, this.#stopped.signal)
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

  /**
   * @param before the previous flush. Only the writes of deliveries overlap with it: reports about a channel must keep
   * their order.
   */
  async #makeDurable(batch: readonly EndedAttempt[], before: Promise<void>): Promise<void> {
    const { producer, consumerMetrics } = this.#options
    const disabled = channelsToDisable(batch)
    const isOfDisabled = ({ job }: EndedAttempt) => disabled.has(job.request.channel_id)
    if (disabled.size > 0) {
      await before
      await this.#report(healthReportsOf(batch.filter(isOfDisabled)))
    }
    const refused = await this.#retry('record', () => this.#record(batch))
    const recorded = batch.filter(({ outcome }) => !refused.has(outcome.deliveryId))
    for (const { job } of batch) this.#options.onRecorded(job)
    await before
    const reports = healthReportsOf(recorded.filter(ended => !isOfDisabled(ended)))
    if (reports.length > 0) await this.#report(reports)
    const follows = await this.#retry('follow', async () => [
      ...recorded.flatMap(({ job, outcome }) => this.#followUp(job, outcome)),
      ...(await this.#followUpOfRefused(batch, refused)),
    ])
    if (follows.length > 0) {
      await this.#retry('produce', () => producer.send(follows))
      countDeadLetters(follows, consumerMetrics)
    }
    for (const { job } of batch) complete(job.messages)
  }

  async #report(channels: readonly ChannelReports[]): Promise<void> {
    const { health, onRecovered } = this.#options
    for (const recovery of await this.#retry('health', () => health.note(channels))) onRecovered(recovery)
    await this.#retry('disable', () => health.disableFailing(channels))
  }

  /**
   * Inserts new deliveries with their outcome, and updates the others. A new delivery that exists nevertheless is updated too: it was
   * stored as pending meanwhile, another process has it, or the answer to an earlier insert was lost.
   * @returns the ids of deliveries whose outcome was refused
   */
  async #record(batch: readonly EndedAttempt[]): Promise<ReadonlySet<string>> {
    const { deliveries, active } = this.#options
    const fresh: EndedAttempt[] = []
    const stored: AttemptOutcome[] = []
    for (const one of batch) {
      if (active.isUnstored(one.outcome.deliveryId)) fresh.push(one)
      else stored.push(one.outcome)
    }
    const [existing, refused] = await Promise.all([
      deliveries.insertNew(fresh.map(({ job, outcome }) => withOutcome(documentOf(job), outcome))),
      deliveries.record(stored),
    ])
    if (existing.size === 0) return refused
    const updates = fresh.filter(({ outcome }) => existing.has(outcome.deliveryId)).map(({ outcome }) => outcome)
    return new Set([...refused, ...(await deliveries.record(updates))])
  }

  #followUp(job: DeliveryJob, { state, next, attempt, reasonCode, reason }: AttemptOutcome): OutgoingMessage[] {
    const original = job.messages[0]?.message
    if (original === undefined) return []
    if (next !== null) {
      const request = { ...job.request, attempt: attempt + 1 }
      return [delayedMessage(this.#options.codec, request, original.headers, { topic: next.topic, atMs: next.dueAtMs })]
    }
    return state !== 'dead' || job.request.test ? [] : [deadLetterOfDelivery(original, reasonCode, reason)]
  }

  /**
   * Another process recorded this attempt and may have crashed before it produced the next message, which is derived
   * from the document.
   */
  async #followUpOfRefused(batch: readonly EndedAttempt[], refused: ReadonlySet<string>): Promise<OutgoingMessage[]> {
    if (refused.size === 0) return []
    const progress = await this.#options.deliveries.progressOf([...refused])
    return batch.flatMap(({ job, outcome }) => {
      const known = progress.get(outcome.deliveryId)
      const original = job.messages[0]?.message
      if (!refused.has(outcome.deliveryId) || original === undefined) return []
      const { delivery_id, channel_id } = job.request
      this.#options.logger.warn({ delivery_id, channel_id, attempt: outcome.attempt }, 'delivery.recorded_elsewhere')
      if (known === undefined)
        return [deadLetterOfDelivery(original, 'delivery_unknown', 'The delivery is no longer stored')]
      const intake = decideIntake(outcome.attempt, null, known)
      switch (intake.kind) {
        case 'produce_retry_again': {
          const request = { ...job.request, attempt: intake.attempt }
          const due = { topic: intake.topic, atMs: intake.dueAtMs }
          return [delayedMessage(this.#options.codec, request, original.headers, due)]
        }
        case 'dead_letter_again':
          return job.request.test ? [] : [deadLetterOfDelivery(original, 'recorded_elsewhere', known.reason)]
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

/** A short maximum, because outcomes wait in memory until the dependency is available again. */
const LONGEST_PAUSE_MS = 5_000

/** The channels whose receiver is gone for good. */
function channelsToDisable(batch: readonly EndedAttempt[]): ReadonlySet<string> {
  const refused = batch.filter(({ outcome }) => outcome.health?.kind === 'disable')
  return new Set(refused.map(({ job }) => job.request.channel_id))
}

function healthReportsOf(batch: readonly EndedAttempt[]): ChannelReports[] {
  const byChannel = new Map<string, ChannelReports & { reports: NonNullable<AttemptOutcome['health']>[] }>()
  for (const { job, outcome } of batch) {
    if (outcome.health === null) continue
    const { channel_id: channelId, project_id: projectId } = job.request
    const known = byChannel.get(channelId)
    if (known === undefined) byChannel.set(channelId, { channelId, projectId, reports: [outcome.health] })
    else known.reports.push(outcome.health)
  }
  return [...byChannel.values()]
}
