import { RETRY_RUNGS } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import { type DeliveryJob, isFirstAttempt, isOwned } from '../jobs/delivery-job.ts'
import { ChannelLane, type ChannelLimits } from './channel-lane.ts'
import { ChannelPaces, type ChannelPause, type ChannelSignal, SHORT_PAUSE_MS } from './channel-paces.ts'
import { ChannelSlots } from './channel-slots.ts'
import { takeDigest, takeFirstStartable } from './take-jobs.ts'
import { TargetPaces } from './target-paces.ts'

export interface ChannelQueuesOptions {
  readonly clock: Clock
  /** Maximum number of concurrent attempts in this process. */
  readonly maxActive: number
  /** Number of queued jobs of one channel at which its further messages stay in Kafka. */
  readonly maxQueuedPerChannel: number
  /** The limits of the channel's kind. */
  limitsOf(job: DeliveryJob): ChannelLimits
  /** True if this process has more work than it can do: then long attempts do not prove that a receiver is slow. */
  isOverloaded(): boolean
  /** True if new jobs may start now. */
  mayStart(): boolean
  /**
   * Makes one attempt for these jobs of one channel (usually one job). @returns what the attempt showed about the
   * receiver
   */
  run(jobs: readonly DeliveryJob[]): Promise<ChannelSignal | undefined>
  /** Called for a job that was dropped because its partition was revoked. */
  onDropped(job: DeliveryJob): void
  /** Called with the queued jobs of a channel that is paused for `heldForMs`: they must wait on a delay line. */
  onHeld(jobs: readonly DeliveryJob[], heldForMs: number): void
  /** Called when the attempt of this job paused its channel, or extended its pause. */
  onPaused(job: DeliveryJob, pause: ChannelPause): void
}

/** How to handle the next message for a channel: queue it, leave it in Kafka, or send it to a delay line. */
export type JobAdmission = 'queue' | 'wait' | 'postpone'

/**
 * What a message asks for: the first attempt of a new alert, a first attempt that was held before, or a retry. A pause
 * lets some first attempts through, and held ones go before new ones.
 */
export type AttemptKind = 'first' | 'held_first' | 'retry'

/** A channel whose attempts take longer than this, in milliseconds, is slow. */
const SLOW_AFTER_MS = 1_000
/**
 * Longest expected wait in memory: the duration of the shortest delay line. A message that would wait longer goes to a
 * delay line.
 */
const LONGEST_WAIT_MS = RETRY_RUNGS[0].delayMs
/** Factor on the longest wait while this process is overloaded, because postponing messages would add to its load. */
const OVERLOAD_WAIT_FACTOR = 6
/**
 * Minimum duration assumed for a job of a channel that has postponed messages, in milliseconds: attempts that failed
 * quickly may take longer when they succeed.
 */
const LEAST_JOB_MS = 50
/** Number of jobs that may always wait, for any channel. With digests a full digest may, because it is one attempt. */
const ALWAYS_QUEUED = 50

/**
 * One queue per channel with limited concurrency, so that a hanging channel delays only its own jobs. Channels take
 * turns; jobs of one incident keep their order.
 */
export class ChannelQueues {
  readonly #options: ChannelQueuesOptions
  readonly #lanes = new Map<string, ChannelLane>()
  readonly #slots: ChannelSlots
  readonly #paces: ChannelPaces
  readonly #targets: TargetPaces
  #size = 0

  constructor(options: ChannelQueuesOptions) {
    this.#options = options
    this.#paces = new ChannelPaces(options.clock)
    this.#targets = new TargetPaces(options.clock, channelId => this.#giveTurn(channelId))
    this.#slots = new ChannelSlots(options.maxActive)
  }

  /** Number of jobs, waiting or running. */
  get size(): number {
    return this.#size
  }

  /** @param planned number of messages for this channel that are admitted but not queued yet */
  admit(channelId: string, planned: number, kind: AttemptKind = 'retry'): JobAdmission {
    const lane = this.#lanes.get(channelId)
    const waiting = (lane?.waiting.length ?? 0) + planned
    if (this.#paces.heldForMs(channelId) > SHORT_PAUSE_MS) return this.#admitDuringPause(channelId, waiting, kind)
    if (waiting < Math.max(ALWAYS_QUEUED, lane?.limits.digest?.most ?? 0)) return 'queue'
    if (this.#drainMs(lane, waiting) > this.#scaleWaitMs(LONGEST_WAIT_MS)) return 'postpone'
    if (waiting < this.#options.maxQueuedPerChannel) return 'queue'
    if (lane !== undefined && lane.gathersForMs(this.#options.clock.now()) > 0) return 'postpone'
    return this.#attemptIntervalMs(lane) < SHORT_PAUSE_MS ? 'wait' : 'postpone'
  }

  #admitDuringPause(channelId: string, waiting: number, kind: AttemptKind): JobAdmission {
    if (kind === 'retry') return 'postpone'
    const mustQueueUp = kind === 'first' && this.#paces.hasHeldFirst(channelId)
    if (!mustQueueUp && waiting < this.#paces.firstAttemptsLeft(channelId)) return 'queue'
    this.#paces.rememberHeldFirst(channelId)
    return 'postpone'
  }

  /** Remaining pause of the channel, in milliseconds. */
  heldForMs(channelId: string): number {
    return this.#paces.heldForMs(channelId)
  }

  /**
   * Earliest time in milliseconds until a message that is postponed now can be attempted: after the messages of the
   * channel that were postponed before it.
   */
  nextAttemptInMs(channelId: string): number {
    const lane = this.#lanes.get(channelId)
    const before = (lane?.waiting.length ?? 0) + this.#paces.countPostponed(channelId)
    return this.#paces.heldForMs(channelId) + Math.max(before * LEAST_JOB_MS, this.#drainMs(lane, before))
  }

  /** Ends the pause of a channel that was changed. @returns true if there was a change */
  resetIfChanged(channelId: string, channelVersion: number): boolean {
    return this.#paces.resetIfChanged(channelId, channelVersion)
  }

  /**
   * Removes the queued jobs of all channels that are slow or gather a digest, also few jobs: many such channels fill the memory.
   */
  removeDelayedJobs(): DeliveryJob[] {
    const taken: DeliveryJob[] = []
    const nowMs = this.#options.clock.now()
    for (const lane of this.#lanes.values()) {
      const isSlow = lane.attemptMs(nowMs) >= this.#scaleWaitMs(SLOW_AFTER_MS)
      if (isSlow || lane.gathersForMs(nowMs) > 0) taken.push(...lane.waiting.splice(0))
    }
    this.#size -= taken.length
    return taken
  }

  /** True if a part of this failed digest waits here. */
  hasOnlyPartOf(channelId: string, digestId: string): boolean {
    const lane = this.#lanes.get(channelId)
    if (lane === undefined || lane.hasAllOf(digestId)) return false
    return lane.waiting.some(job => job.digestGroup === digestId)
  }

  /** Queues jobs, and starts them if there is a free slot. */
  add(jobs: readonly DeliveryJob[]): void {
    for (const job of jobs) {
      const { channel_id } = job.request
      let lane = this.#lanes.get(channel_id)
      if (lane === undefined) {
        lane = new ChannelLane(this.#options.limitsOf(job), job.paceTarget)
        this.#lanes.set(channel_id, lane)
        this.#targets.addSharer(lane.paceTarget)
      }
      if (job.atOnce) lane.atOnce.push(job)
      else lane.waiting.push(job)
      this.#slots.give(channel_id)
    }
    this.#size += jobs.length
    this.startJobs()
  }

  /** Starts jobs while there are free slots. Call it when `mayStart` may have become true. */
  startJobs(): void {
    while (this.#slots.hasSlot && this.#options.mayStart()) {
      const channelId = this.#slots.next(this.#isFailing, this.#hasUrgent)
      if (channelId === undefined) return
      const lane = this.#lanes.get(channelId)
      if (lane === undefined) continue
      const jobs = this.#takeNext(channelId, lane)
      if (jobs.length === 0) {
        this.#removeIfEmpty(channelId, lane)
        continue
      }
      this.#slots.give(channelId)
      this.#start(channelId, lane, jobs)
    }
  }

  /** Drops queued jobs whose partitions were revoked. Running jobs finish. */
  dropLost(): void {
    for (const [channelId, lane] of this.#lanes) {
      for (const queue of [lane.waiting, lane.atOnce]) {
        const lost = queue.filter(job => !isOwned(job))
        if (lost.length === 0) continue
        queue.splice(0, queue.length, ...queue.filter(isOwned))
        this.#size -= lost.length
        for (const job of lost) this.#options.onDropped(job)
      }
      this.#removeIfEmpty(channelId, lane)
    }
  }

  /** Age of the oldest job of all channels, in milliseconds; 0 if there is none. */
  oldestMs(): number {
    let oldest = 0
    const nowMs = this.#options.clock.now()
    for (const lane of this.#lanes.values()) oldest = Math.max(oldest, lane.oldestMs(nowMs))
    return oldest
  }

  readonly #isFailing = (channelId: string): boolean => this.#paces.sendPermissionOf(channelId).kind !== 'free'
  readonly #hasUrgent = (channelId: string): boolean => (this.#lanes.get(channelId)?.atOnce.length ?? 0) > 0

  #takeNext(channelId: string, lane: ChannelLane): DeliveryJob[] {
    const wanted = this.#takeUrgent(channelId, lane)
    if (wanted.length > 0) return wanted
    this.#postponeIfPaused(channelId, lane)
    if (lane.waiting.length === 0) return []
    const { concurrency, digest } = lane.limits
    const permission = this.#paces.sendPermissionOf(channelId)
    if (lane.attempts >= (permission.kind === 'free' ? concurrency : 1)) return []
    if (permission.kind !== 'free') lane.putFirstAttemptsAhead()
    const [first] = lane.waiting as [DeliveryJob]
    if (permission.kind === 'paused' && (permission.firstAttemptsLeft === 0 || !isFirstAttempt(first))) {
      this.#wakeAfter(channelId, lane, permission.untilMs - this.#options.clock.now())
      return []
    }
    const waitMs = lane.gathersForMs(this.#options.clock.now())
    if (waitMs > 0) {
      this.#wakeAfter(channelId, lane, waitMs)
      return []
    }
    if (!this.#targets.mayStart(first.paceTarget, channelId)) return []
    if (digest !== null) {
      // A flood ends when at most one job waits.
      lane.isFlooded = lane.waiting.length > (lane.isFlooded ? 1 : digest.above)
      // A digest runs alone, because it may contain messages about any incident.
      if (lane.isFlooded || first.digestGroup !== null) {
        return lane.active.size === 0 ? takeDigest(lane.waiting, digest.most) : []
      }
    }
    return takeFirstStartable(lane.waiting, lane)
  }

  /** Takes an urgent job. It ignores the pause of its channel but keeps the minimum interval of its target. */
  #takeUrgent(channelId: string, lane: ChannelLane): DeliveryJob[] {
    const [first] = lane.atOnce
    if (first === undefined || [...lane.active.keys()].some(job => job.atOnce)) return []
    return this.#targets.mayStart(first.paceTarget, channelId) ? takeFirstStartable(lane.atOnce, lane) : []
  }

  #wakeAfter(channelId: string, lane: ChannelLane, waitMs: number): void {
    lane.cancelWake ??= this.#options.clock.schedule(waitMs, () => {
      lane.cancelWake = undefined
      this.#giveTurn(channelId)
    })
  }

  #giveTurn(channelId: string): void {
    this.#slots.give(channelId)
    this.startJobs()
  }

  #start(channelId: string, lane: ChannelLane, jobs: readonly DeliveryJob[]): void {
    const [first] = jobs as [DeliveryJob]
    const { atOnce, paceTarget } = first
    const isOfFailing = this.#isFailing(channelId) && !atOnce
    if (isOfFailing) this.#paces.countFirstAttempt(channelId)
    const nowMs = this.#options.clock.now()
    const freeSlot = this.#slots.takeSlot(isOfFailing)
    if (!atOnce) lane.attempts++
    this.#targets.delayNextStart(paceTarget, lane.limits.intervalMs)
    for (const job of jobs) lane.active.set(job, nowMs)
    const end = (shown: ChannelSignal | undefined) => {
      freeSlot()
      this.#size -= jobs.length
      if (!atOnce) {
        lane.attempts--
        lane.recordDuration(this.#options.clock.now() - nowMs)
      }
      for (const job of jobs) lane.active.delete(job)
      // Counts the interval again from the end of the attempt: the request may reach the receiver long after the start,
      // and an attempt may send two messages.
      this.#targets.delayNextStart(paceTarget, lane.limits.intervalMs)
      if (shown !== undefined) this.#recordSignal(first, shown)
      this.#postponeIfPaused(channelId, lane)
      if (lane.waiting.length + lane.atOnce.length > 0) this.#slots.give(channelId)
      this.#removeIfEmpty(channelId, lane)
      this.startJobs()
    }
    this.#options.run(jobs).then(end, () => end(undefined))
  }

  #recordSignal(job: DeliveryJob, shown: ChannelSignal): void {
    const pause = this.#paces.recordSignal(job.request.channel_id, shown)
    if (pause !== undefined) this.#options.onPaused(job, pause)
  }

  /** Moves the queued jobs of a channel with a long pause to a delay line, except first attempts that may start now. */
  #postponeIfPaused(channelId: string, lane: ChannelLane): void {
    const heldForMs = this.#paces.heldForMs(channelId)
    if (heldForMs <= SHORT_PAUSE_MS || lane.waiting.length === 0) return
    const held = lane.removeAllButFirstAttempts(this.#paces.firstAttemptsLeft(channelId))
    if (held.length === 0) return
    if (held.some(isFirstAttempt)) this.#paces.rememberHeldFirst(channelId)
    this.#size -= held.length
    this.#options.onHeld(held, heldForMs)
  }

  #drainMs(lane: ChannelLane | undefined, jobs: number): number {
    return lane?.drainMs(jobs, this.#options.clock.now(), this.#targets.countSharers(lane.paceTarget)) ?? 0
  }

  /**
   * Time between two attempts of the channel at a shared target, in milliseconds. Messages of other channels behind it
   * in the partition would wait for each attempt.
   */
  #attemptIntervalMs(lane: ChannelLane | undefined): number {
    return lane === undefined ? 0 : lane.limits.intervalMs * this.#targets.countSharers(lane.paceTarget)
  }

  #scaleWaitMs(ms: number): number {
    return this.#options.isOverloaded() ? ms * OVERLOAD_WAIT_FACTOR : ms
  }

  #removeIfEmpty(channelId: string, lane: ChannelLane): void {
    if (!lane.isEmpty || this.#lanes.get(channelId) !== lane) return
    lane.cancelWake?.()
    this.#lanes.delete(channelId)
    this.#targets.removeSharer(lane.paceTarget)
  }
}
