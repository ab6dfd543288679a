import type { Clock } from '@backstop/kit'
import { type DeliveryJob, isOwned } from './delivery-job.ts'

export interface ChannelQueuesOptions {
  readonly clock: Clock
  /** Jobs under way at once in this process. */
  readonly maxActive: number
  /** Jobs waiting for one channel beyond which its further messages are left in Kafka until there is room. */
  readonly maxQueuedPerChannel: number
  /** Jobs under way at once for one channel. */
  concurrencyOf(job: DeliveryJob): number
  /** Whether new jobs may start now. */
  mayStart(): boolean
  /** Does the job. @returns whether the channel works; undefined when the job showed nothing of it */
  run(job: DeliveryJob): Promise<boolean | undefined>
  /** Called for a job that was dropped because its partition went elsewhere. */
  onDropped(job: DeliveryJob): void
}

/** What may be done with one more message for a channel. */
export type Admission = 'queue' | 'wait' | 'postpone'

/** A channel whose oldest job is older than this is slow: what does not fit is put off instead of waited for. */
const SLOW_AFTER_MS = 1_000
/** Jobs that may wait for a slow channel. */
const QUEUED_WHEN_SLOW = 50

interface Lane {
  readonly waiting: DeliveryJob[]
  /** Tests run beside the rest, one at a time: a person waits for the answer. */
  readonly tests: DeliveryJob[]
  /** When each job under way began, in milliseconds since the epoch. */
  readonly active: Map<DeliveryJob, number>
}

/**
 * A queue for each channel with bounded concurrency, so that a channel that hangs costs its own queue and nothing else.
 * Channels take turns; jobs of one incident keep their order.
 */
export class ChannelQueues {
  readonly #options: ChannelQueuesOptions
  readonly #lanes = new Map<string, Lane>()
  /** Channels that may have something to start, in the order of their turns. */
  readonly #turns = new Set<string>()
  /** Channels whose last job failed: one at a time is enough to see when they work again. */
  readonly #failing = new Set<string>()
  #size = 0
  #active = 0

  constructor(options: ChannelQueuesOptions) {
    this.#options = options
  }

  /** Jobs waiting and under way. */
  get size(): number {
    return this.#size
  }

  /** @param planned messages for this channel that are admitted already but not yet queued */
  admit(channelId: string, planned: number): Admission {
    const lane = this.#lanes.get(channelId)
    const waiting = (lane?.waiting.length ?? 0) + planned
    if (waiting < QUEUED_WHEN_SLOW) return 'queue'
    if (lane !== undefined && this.#isSlow(lane)) return 'postpone'
    return waiting < this.#options.maxQueuedPerChannel ? 'queue' : 'wait'
  }

  /** Takes out what waits for slow channels beyond a few jobs each: what a burst left there before it showed. */
  takeSlow(): DeliveryJob[] {
    const taken: DeliveryJob[] = []
    for (const lane of this.#lanes.values()) {
      if (lane.waiting.length > QUEUED_WHEN_SLOW && this.#isSlow(lane)) {
        taken.push(...lane.waiting.splice(QUEUED_WHEN_SLOW))
      }
    }
    this.#size -= taken.length
    return taken
  }

  /** Takes jobs in; they start at once where there is room. */
  add(jobs: readonly DeliveryJob[]): void {
    for (const job of jobs) {
      const { channel_id, test } = job.request
      let lane = this.#lanes.get(channel_id)
      if (lane === undefined) {
        lane = { waiting: [], tests: [], active: new Map() }
        this.#lanes.set(channel_id, lane)
      }
      if (test) lane.tests.push(job)
      else lane.waiting.push(job)
      this.#turns.add(channel_id)
    }
    this.#size += jobs.length
    this.pump()
  }

  /** Starts what may start. Call it when `mayStart` may have become true. */
  pump(): void {
    while (this.#turns.size > 0 && this.#active < this.#options.maxActive && this.#options.mayStart()) {
      const [channelId] = this.#turns as Iterable<string> as [string]
      this.#turns.delete(channelId)
      const lane = this.#lanes.get(channelId)
      const job = lane === undefined ? undefined : this.#takeNext(channelId, lane)
      if (lane === undefined || job === undefined) continue
      this.#turns.add(channelId)
      this.#start(channelId, lane, job)
    }
  }

  /** Forgets waiting jobs whose partitions went elsewhere. Those under way finish. */
  dropLost(): void {
    for (const [channelId, lane] of this.#lanes) {
      for (const queue of [lane.waiting, lane.tests]) {
        const lost = queue.filter(job => !isOwned(job))
        if (lost.length === 0) continue
        queue.splice(0, queue.length, ...queue.filter(isOwned))
        this.#size -= lost.length
        for (const job of lost) this.#options.onDropped(job)
      }
      this.#forgetIfEmpty(channelId, lane)
    }
  }

  /** For how long the oldest job of all has been here, in milliseconds; 0 when there is none. */
  oldestMs(): number {
    let oldest = 0
    for (const lane of this.#lanes.values()) oldest = Math.max(oldest, this.#oldestMs(lane))
    return oldest
  }

  #takeNext(channelId: string, lane: Lane): DeliveryJob | undefined {
    let activeTests = 0
    const busyKeys = new Set<string>()
    for (const job of lane.active.keys()) {
      if (job.request.test) activeTests++
      busyKeys.add(job.orderingKey)
    }
    if (activeTests === 0 && lane.tests.length > 0) return lane.tests.shift()
    const [first] = lane.waiting
    if (first === undefined) return undefined
    const limit = this.#failing.has(channelId) ? 1 : this.#options.concurrencyOf(first)
    if (lane.active.size - activeTests >= limit) return undefined
    // Looking a little ahead is enough: a long row of one incident is rare, and then waiting is right.
    const index = lane.waiting.slice(0, LOOK_AHEAD).findIndex(job => !busyKeys.has(job.orderingKey))
    return index === -1 ? undefined : lane.waiting.splice(index, 1)[0]
  }

  #start(channelId: string, lane: Lane, job: DeliveryJob): void {
    this.#active++
    lane.active.set(job, this.#options.clock.now())
    const end = (works: boolean | undefined) => {
      this.#active--
      this.#size--
      lane.active.delete(job)
      if (works !== undefined && !job.request.test) this.#noteHealth(channelId, works)
      if (lane.waiting.length + lane.tests.length > 0) this.#turns.add(channelId)
      this.#forgetIfEmpty(channelId, lane)
      this.pump()
    }
    this.#options.run(job).then(end, () => end(undefined))
  }

  #noteHealth(channelId: string, works: boolean): void {
    if (works) this.#failing.delete(channelId)
    else if (this.#failing.size < MAX_FAILING) this.#failing.add(channelId)
  }

  #isSlow(lane: Lane): boolean {
    return this.#oldestMs(lane) > SLOW_AFTER_MS
  }

  #oldestMs(lane: Lane): number {
    const [activeSince] = lane.active.values()
    const oldest = Math.min(
      activeSince ?? Number.POSITIVE_INFINITY,
      lane.waiting[0]?.receivedAtMs ?? Number.POSITIVE_INFINITY,
      lane.tests[0]?.receivedAtMs ?? Number.POSITIVE_INFINITY,
    )
    return oldest === Number.POSITIVE_INFINITY ? 0 : this.#options.clock.now() - oldest
  }

  #forgetIfEmpty(channelId: string, lane: Lane): void {
    if (lane.waiting.length + lane.tests.length + lane.active.size === 0) this.#lanes.delete(channelId)
  }
}

const LOOK_AHEAD = 32
/** Beyond it, memory is worth more than knowing which channels failed last. */
const MAX_FAILING = 50_000
