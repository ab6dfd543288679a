import { CHANNEL_MODULES } from '@backstop/channels/deliver'
import { TOPICS } from '@backstop/contracts'
import type { Batch, BatchProgress, Bus, Consumer, IncomingMessage, OutgoingMessage, Producer } from '@backstop/kit/bus'
import { sleep } from '@backstop/kit/clock'
import { type ConsumerMetrics, deadLetter } from '@backstop/kit/consume'
import { isRetryable } from '@backstop/kit/errors'
import { PartitionPauses, untilAvailable } from '@backstop/kit/retry'
import type { DeliveryStore } from '../delivery-record/delivery-store.ts'
import type { ChannelHealthKeeper } from '../health/channel-health-keeper.ts'
import type { ActiveDeliveries } from '../jobs/active-deliveries.ts'
import { abandon, complete, type DeliveryJob, isOwned, ownedSignal } from '../jobs/delivery-job.ts'
import type { ChannelLimits } from '../queue/channel-lane.ts'
import type { ChannelSignal } from '../queue/channel-paces.ts'
import { ChannelQueues } from '../queue/channel-queues.ts'
import { attemptKindOf, countDeadLetters } from '../retry/delivery-messages.ts'
import { Postponer } from '../retry/postponer.ts'
import { RecoveryReleaser } from '../retry/recovery-releaser.ts'
import { type Attempted, type AttemptOptions, attempt } from './attempt.ts'
import { OutcomeWriter } from './outcome-writer.ts'
import { type DeliveryIntakeOptions, type IntakePlan, type PostponedMessages, planIntake } from './plan-intake.ts'

export interface DeliveryConsumerOptions extends AttemptOptions, DeliveryIntakeOptions {
  readonly bus: Bus
  readonly producer: Producer
  readonly consumerMetrics: ConsumerMetrics
  readonly deliveries: DeliveryStore
  readonly active: ActiveDeliveries
  readonly health: Pick<ChannelHealthKeeper, 'note' | 'disableFailing' | 'notePause' | 'endPause'>
  /** Maximum number of concurrent attempts in this process. */
  readonly maxActive: number
  readonly maxQueuedPerChannel: number
  /** True if this process has more work than it can do. */
  isOverloaded(): boolean
  /** Number of deliveries in memory at which reading from Kafka pauses; 2000 by default. */
  readonly maxInMemory?: number
  onFatal(error: unknown): void
}

const MAX_IN_MEMORY = 2_000
/** Pause of a partition whose next message does not fit into memory, in milliseconds. */
const NO_ROOM_MS = 50
/** Interval of the checks for free memory, and their duration before the partition is paused, in milliseconds. */
const LOOK_FOR_ROOM_MS = 25
const WAIT_FOR_ROOM_MS = 1_000

/**
 * Consumes `deliveries`: puts each message into the queue of its channel and continues, so that a slow receiver blocks
 * no partition. The offset of a message is committed when its result is durable.
 */
export class DeliveryConsumer {
  readonly #options: DeliveryConsumerOptions
  readonly #maxInMemory: number
  readonly #queues: ChannelQueues
  readonly #postponer: Postponer
  readonly #releaser: RecoveryReleaser
  readonly #writer: OutcomeWriter
  readonly #consumer: Consumer
  readonly #active: ActiveDeliveries
  /** Number of messages that are being planned, over all partitions. They count towards the memory limit. */
  #beingPlanned = 0
  readonly #watched = new WeakSet<AbortSignal>()
  readonly #pauses = new PartitionPauses()

  constructor(options: DeliveryConsumerOptions) {
    this.#options = options
    this.#maxInMemory = options.maxInMemory ?? MAX_IN_MEMORY
    const { clock, maxActive, maxQueuedPerChannel } = options
    this.#active = options.active
    this.#queues = new ChannelQueues({
      clock,
      maxActive,
      maxQueuedPerChannel,
      limitsOf,
      isOverloaded: () => options.isOverloaded(),
      mayStart: () => !this.#writer.isBacklogFull,
      run: jobs => this.#run(jobs),
      onDropped: job => this.#drop(job),
      onHeld: jobs => void this.#postponer.postponeWhenAvailable(jobs).catch(options.onFatal),
      onPaused: ({ request }, { sinceMs, untilMs, because }) =>
        options.health.notePause(request.channel_id, request.project_id, {
          since: new Date(sinceMs),
          until: new Date(untilMs),
          reason: because === 'throttled' ? 'throttled' : 'failing',
        }),
    })
    this.#releaser = new RecoveryReleaser({
      ...options,
      queues: this.#queues,
    })
    this.#postponer = new Postponer({
      ...options,
      queues: this.#queues,
      onPostponed: job => this.#forget(job),
      onDropped: job => this.#drop(job),
    })
    this.#writer = new OutcomeWriter({
      ...options,
      onRecorded: job => this.#forget(job),
      onAbandoned: job => this.#drop(job),
      onRecovered: recovery => this.#releaser.release(recovery),
      onFlushed: () => this.#queues.startJobs(),
    })
    this.#consumer = options.bus.consumer({
      groupId: 'notifier.deliveries',
      topics: ['deliveries'],
      commit: 'completed',
      // All partitions at once: each brings other channels, and a batch waits only for its own database commands.
      maxPartitionsAtOnce: TOPICS.deliveries.partitions,
      drainTimeoutMs: DRAIN_MS,
      onBatch: batch => this.#onBatch(batch),
      onFatal: options.onFatal,
    })
  }

  start(): Promise<void> {
    return this.#consumer.start()
  }

  /** Drops queued jobs, waits until running attempts have ended and are recorded, commits and leaves the group. */
  async stop(): Promise<void> {
    await Promise.all([this.#releaser.stop(), this.#consumer.stop()])
    this.#writer.stop()
  }

  msSinceProgress(): number {
    return this.#consumer.msSinceProgress()
  }

  /** Age of the oldest delivery in memory, in milliseconds. */
  oldestPendingMs(): number {
    return this.#queues.oldestMs()
  }

  async #onBatch(batch: Batch): Promise<BatchProgress> {
    this.#watchRevocation(batch.signal)
    const { partition, messages } = batch
    const untilMs = this.#options.clock.now() + WAIT_FOR_ROOM_MS
    let accepted = 0
    try {
      await this.#resetChangedChannels(messages)
      while (accepted < messages.length) {
        const { admitted, overflow, isFull } = this.#admit(messages.slice(accepted))
        const more = admitted.length === 0 ? 0 : await this.#accept(admitted, overflow, batch)
        accepted += more
        if (more < admitted.length) break
        const next = messages[accepted]
        if (next !== undefined && !(await this.#waitForRoom(untilMs, next, isFull, batch.signal))) break
      }
      this.#pauses.succeeded(batch)
      return accepted < messages.length ? { accepted, resumeAfterMs: NO_ROOM_MS } : { accepted }
    } catch (error) {
      const resumeAfterMs = this.#pauses.failed(batch)
      const canRetry = isRetryable(error)
      const { logger } = this.#options
      logger[canRetry ? 'warn' : 'error']({ partition, messages: messages.length, error }, 'deliveries.deferred')
      if (canRetry || accepted > 0) return { accepted, resumeAfterMs }
      return this.#deadLetterCulprit(batch, resumeAfterMs)
    }
  }

  /** Ends the pause of a channel that a person has changed, because the change may have repaired it. */
  async #resetChangedChannels(messages: readonly IncomingMessage[]): Promise<void> {
    const channelIds = new Set(messages.map(message => message.key))
    const held = [...channelIds].filter(channelId => this.#queues.heldForMs(channelId) > 0)
    if (held.length === 0) return
    for (const [channelId, record] of await this.#options.directory.find(held)) {
      if (record === undefined || !this.#queues.resetIfChanged(channelId, record.channel.version)) continue
      void this.#endPause(channelId, record.channel.project_id)
    }
  }

  async #endPause(channelId: string, projectId: string): Promise<void> {
    for (const recovery of await this.#options.health.endPause(channelId, projectId)) this.#releaser.release(recovery)
  }

  /** The leading messages that fit into memory. The message key is the channel id. */
  #admit(messages: readonly IncomingMessage[]) {
    const planned = new Map<string, number>()
    const overflow = new Map<IncomingMessage, number>()
    const admitted: IncomingMessage[] = []
    for (const message of messages) {
      const count = planned.get(message.key) ?? 0
      const admission = this.#queues.admit(message.key, count, attemptKindOf(message))
      if (admission === 'wait') break
      if (admission === 'postpone') overflow.set(message, this.#queues.nextAttemptInMs(message.key))
      else if (this.#queues.size + this.#beingPlanned + admitted.length - overflow.size >= this.#maxInMemory) {
        return { admitted, overflow, isFull: true }
      } else planned.set(message.key, count + 1)
      admitted.push(message)
    }
    return { admitted, overflow, isFull: false }
  }

  /**
   * Waits until half of the memory limit is free: the process's limit if `isFull`, else the limit of the next message's
   * channel. Waiting is cheaper than pausing the partition, because a paused partition discards its fetched messages.
   */
  async #waitForRoom(untilMs: number, next: IncomingMessage, isFull: boolean, signal: AbortSignal): Promise<boolean> {
    const { clock, maxQueuedPerChannel } = this.#options
    while (clock.now() < untilMs && !signal.aborted) {
      if (isFull) await this.#freeMemory()
      const hasRoom = isFull
        ? this.#queues.size + this.#beingPlanned <= this.#maxInMemory / 2
        : this.#queues.admit(next.key, maxQueuedPerChannel / 2) !== 'wait'
      if (hasRoom) return true
      await sleep(clock, LOOK_FOR_ROOM_MS, signal)
    }
    return false
  }

  /** Runs all steps that can fail before it queues the jobs, because queued jobs cannot be taken back. */
  async #accept(messages: readonly IncomingMessage[], overflow: PostponedMessages, batch: Batch): Promise<number> {
    this.#beingPlanned += messages.length
    try {
      const plan = await planIntake(messages, batch, this.#active.byId, overflow, this.#options)
      await this.#send(plan.outgoing)
      complete(plan.done)
      this.#queue(plan, batch)
      return plan.accepted
    } finally {
      this.#beingPlanned -= messages.length
    }
  }

  async #send(messages: readonly OutgoingMessage[]): Promise<void> {
    if (messages.length === 0) return
    await this.#options.producer.send(messages)
    countDeadLetters(messages, this.#options.consumerMetrics)
  }

  #queue(plan: IntakePlan, batch: Batch): void {
    if (batch.signal.aborted) {
      // The partition was revoked while the batch was planned, and `dropLost` has run already. The new owner attempts
      // these jobs too, so they must not be queued here.
      for (const job of plan.jobs) abandon(job.messages)
      return
    }
    this.#queues.add(this.#active.add(plan.jobs))
    this.#releaser.completeDigests(plan.repeatedDigests)
  }

  /** Frees memory: moves the queued jobs of channels that are slow or gather a digest to delay lines. */
  async #freeMemory(): Promise<void> {
    const jobs = this.#queues.removeDelayedJobs()
    if (jobs.length === 0) return
    try {
      await this.#postponer.postpone(jobs)
    } catch (error) {
      this.#queues.add(jobs.filter(isOwned))
      for (const job of jobs) if (!isOwned(job)) this.#drop(job)
      throw error
    }
  }

  /** Dead-letters a message that fails even when it is planned alone, so that it does not block its partition. */
  async #deadLetterCulprit(batch: Batch, resumeAfterMs: number): Promise<BatchProgress> {
    const { logger } = this.#options
    const first = batch.messages[0] as IncomingMessage
    try {
      return { accepted: await this.#accept([first], new Map(), batch) }
    } catch (error) {
      if (isRetryable(error)) return { accepted: 0, resumeAfterMs }
      await this.#send([deadLetter(first, 'deliveries.dead', error)])
      logger.error({ partition: batch.partition, offset: first.offset.toString(), error }, 'delivery.dead_lettered')
      batch.complete(first)
      return { accepted: 1 }
    }
  }

  /** @returns what the attempt showed about the receiver; undefined if it showed nothing */
  async #run(jobs: readonly DeliveryJob[]): Promise<ChannelSignal | undefined> {
    const { ended, superseded, lost, shown } = await this.#attempt(jobs)
    for (const job of lost) this.#drop(job)
    for (const job of superseded) {
      this.#forget(job)
      complete(job.messages)
    }
    for (const one of ended) {
      this.#active.noteEnded(one.job)
      this.#writer.add(one)
    }
    return shown
  }

  /** Retries while the database is unavailable. Nothing was sent in that case. */
  async #attempt(jobs: readonly DeliveryJob[]): Promise<Attempted> {
    const { clock, onFatal } = this.#options
    const signal = ownedSignal(jobs)
    try {
      return await untilAvailable(() => attempt(jobs, this.#options), { clock, signal })
    } catch (error) {
      if (error !== signal?.reason) {
        onFatal(error)
        throw error
      }
      // The partition may have been assigned to this process again, and a new copy of the message may have joined the
      // job.
      if (jobs.some(isOwned)) return this.#attempt(jobs)
      return { ended: [], superseded: [], lost: jobs, shown: undefined }
    }
  }

  #forget(job: DeliveryJob): void {
    this.#active.forget(job)
    this.#releaser.forget(job.request.channel_id, job.request.delivery_id)
  }

  #drop(job: DeliveryJob): void {
    this.#forget(job)
    abandon(job.messages)
  }

  #watchRevocation(signal: AbortSignal): void {
    if (this.#watched.has(signal)) return
    this.#watched.add(signal)
    signal.addEventListener('abort', () => this.#queues.dropLost(), { once: true })
  }
}

/** Less than the 25 s that a process has to stop, more than the 20 s of the longest attempt. */
const DRAIN_MS = 21_000

function limitsOf({ channelKind }: DeliveryJob): ChannelLimits {
  const { concurrency, pace, digest = null } = CHANNEL_MODULES[channelKind]
  return { concurrency, intervalMs: pace?.intervalMs ?? 0, digest }
}
