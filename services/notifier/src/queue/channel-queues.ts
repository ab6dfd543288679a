import { RETRY_RUNGS } from '@backstop/contracts'
import type { Clock } from '@backstop/kit'
import { ChannelLane, type ChannelLimits } from './channel-lane.ts'
import { ChannelPaces, type ChannelSignal, SHORT_PAUSE_MS } from './channel-paces.ts'
import { type DeliveryJob, isOwned } from './delivery-job.ts'
import { TargetPaces } from './target-paces.ts'

export interface ChannelQueuesOptions {
  readonly clock: Clock
  /** Attempts under way at once in this process. */
  readonly maxActive: number
  /** Jobs waiting for one channel beyond which its further messages are left in Kafka until there is room. */
  readonly maxQueuedPerChannel: number
  /** What the kind of a channel takes. */
  limitsOf(job: DeliveryJob): ChannelLimits
  /** Whether this process has more work than it can do: how long something takes here then says little of a receiver. */
  isOverloaded(): boolean
  /** Whether new jobs may start now. */
  mayStart(): boolean
  /** Makes one attempt for these jobs of one channel, most often one. @returns what it showed of the channel, if anything */
  run(jobs: readonly DeliveryJob[]): Promise<ChannelSignal | undefined>
  /** Called for a job that was dropped because its partition went elsewhere. */
  onDropped(job: DeliveryJob): void
  /** Called with what waited for a channel that is now held for that long: it is to wait elsewhere. */
  onHeld(jobs: readonly DeliveryJob[], heldForMs: number): void
}

/** What may be done with one more message for a channel. */
export type Admission = 'queue' | 'wait' | 'postpone'

/** A channel whose receiver takes longer for one attempt is slow. */
const SLOW_AFTER_MS = 1_000
/** What would wait here for longer waits on the shortest delay line, where it holds up nobody. */
const LONGEST_WAIT_MS = RETRY_RUNGS[0].delayMs
/** So many times as much, while it is this process that is slow: what it then puts off would only make it slower. */
const PATIENCE_WHEN_OVERLOADED = 6
/** For so long at least one job of a channel counts that has messages put off: it may not stay as quick as it failed. */
const LEAST_JOB_MS = 50
/** Jobs that may wait for any channel. */
const ALWAYS_QUEUED = 50

/**
 * A queue for each channel with bounded concurrency, so that a channel that hangs costs its own queue and nothing else.
 * Channels take turns; jobs of one incident keep their order.
 */
export class ChannelQueues {
  readonly #options: ChannelQueuesOptions
  readonly #lanes = new Map<string, ChannelLane>()
  /** Channels that may have something to start, in the order of their turns. */
  readonly #turns = new Set<string>()
  readonly #paces: ChannelPaces
  readonly #targets: TargetPaces
  /** Failing channels that wait for one of the places that are theirs, in the order of their turns. */
  readonly #heldBack = new Set<string>()
  /** How many jobs of failing channels may be under way at once: half of all, so that those that work find a place. */
  readonly #maxFailing: number
  #size = 0
  #active = 0
  #activeFailing = 0

  constructor(options: ChannelQueuesOptions) {
    this.#options = options
    this.#paces = new ChannelPaces(options.clock)
    this.#targets = new TargetPaces(options.clock, channelId => this.#giveTurn(channelId))
    this.#maxFailing = Math.max(1, Math.floor(options.maxActive / 2))
  }

  /** Jobs waiting and under way. */
  get size(): number {
    return this.#size
  }

  /** @param planned messages for this channel that are admitted already but not yet queued */
  admit(channelId: string, planned: number): Admission {
    if (this.#paces.heldForMs(channelId) > SHORT_PAUSE_MS) return 'postpone'
    const lane = this.#lanes.get(channelId)
    const waiting = (lane?.waiting.length ?? 0) + planned
    if (waiting < ALWAYS_QUEUED) return 'queue'
    if (this.#drainMs(lane, waiting) > this.#patience(LONGEST_WAIT_MS)) return 'postpone'
    if (waiting < this.#options.maxQueuedPerChannel) return 'queue'
    return this.#turnsComeEveryMs(lane) < SHORT_PAUSE_MS ? 'wait' : 'postpone'
  }

  /** For how long the channel's receiver is left alone, in milliseconds. */
  heldForMs(channelId: string): number {
    return this.#paces.heldForMs(channelId)
  }

  /** In how long a message for this channel that is put off now may have its turn, behind those put off before it. */
  nextTurnInMs(channelId: string): number {
    const lane = this.#lanes.get(channelId)
    const before = (lane?.waiting.length ?? 0) + this.#paces.countPostponed(channelId)
    return this.#paces.heldForMs(channelId) + Math.max(before * LEAST_JOB_MS, this.#drainMs(lane, before))
  }

  /** The channel as it is now: once it is changed, it is left alone no longer. */
  noteVersion(channelId: string, channelVersion: number): void {
    this.#paces.noteVersion(channelId, channelVersion)
  }

  /**
   * Takes out all that waits for slow channels, however little each has: many channels that hang fill this process by a
   * few jobs each, and the others would then find no room.
   */
  removeWaitingOfSlow(): DeliveryJob[] {
    const taken: DeliveryJob[] = []
    const nowMs = this.#options.clock.now()
    for (const lane of this.#lanes.values()) {
      if (lane.attemptMs(nowMs) >= this.#patience(SLOW_AFTER_MS)) taken.push(...lane.waiting.splice(0))
    }
    this.#size -= taken.length
    return taken
  }

  /** Takes jobs in; they start at once where there is room. */
  add(jobs: readonly DeliveryJob[]): void {
    for (const job of jobs) {
      const { channel_id } = job.request
      let lane = this.#lanes.get(channel_id)
      if (lane === undefined) {
        lane = new ChannelLane(this.#options.limitsOf(job), job.paceTarget)
        this.#lanes.set(channel_id, lane)
        this.#targets.join(lane.paceTarget)
      }
      if (job.atOnce) lane.atOnce.push(job)
      else lane.waiting.push(job)
      this.#turns.add(channel_id)
    }
    this.#size += jobs.length
    this.pump()
  }

  /** Starts what may start. Call it when `mayStart` may have become true. */
  pump(): void {
    while (this.#active < this.#options.maxActive && this.#options.mayStart()) {
      const channelId = this.#nextTurn()
      if (channelId === undefined) return
      const lane = this.#lanes.get(channelId)
      if (lane === undefined) continue
      const jobs = this.#takeNext(channelId, lane)
      if (jobs.length === 0) {
        this.#forgetIfEmpty(channelId, lane)
        continue
      }
      this.#turns.add(channelId)
      this.#start(channelId, lane, jobs)
    }
  }

  /** Forgets waiting jobs whose partitions went elsewhere. Those under way finish. */
  dropLost(): void {
    for (const [channelId, lane] of this.#lanes) {
      for (const queue of [lane.waiting, lane.atOnce]) {
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
    const nowMs = this.#options.clock.now()
    for (const lane of this.#lanes.values()) oldest = Math.max(oldest, lane.oldestMs(nowMs))
    return oldest
  }

  /** The channel whose turn it is; those that fail are held back while all of their places are taken. */
  #nextTurn(): string | undefined {
    const isFull = this.#activeFailing >= this.#maxFailing
    if (!isFull && this.#heldBack.size > 0) return takeFirst(this.#heldBack)
    while (this.#turns.size > 0) {
      const channelId = takeFirst(this.#turns)
      // What is wanted at once passes by here too: a person waits for it.
      const isWanted = (this.#lanes.get(channelId)?.atOnce.length ?? 0) > 0
      if (!isFull || isWanted || !this.#isFailing(channelId)) return channelId
      this.#heldBack.add(channelId)
    }
    return undefined
  }

  #isFailing(channelId: string): boolean {
    return this.#paces.gateOf(channelId).kind !== 'free'
  }

  #takeNext(channelId: string, lane: ChannelLane): DeliveryJob[] {
    const wanted = this.#takeWanted(channelId, lane)
    if (wanted.length > 0) return wanted
    this.#sendAwayIfHeld(channelId, lane)
    const [first] = lane.waiting
    if (first === undefined) return []
    const { concurrency, digest } = lane.limits
    const limit = this.#paces.gateOf(channelId).kind === 'free' ? concurrency : 1
    if (lane.attempts >= limit) return []
    const heldForMs = this.#paces.heldForMs(channelId)
    if (heldForMs > 0) {
      this.#wakeAfter(channelId, lane, heldForMs)
      return []
    }
    if (!this.#targets.mayStart(first.paceTarget, channelId)) return []
    if (digest !== null && lane.active.size === 0) {
      // A flood is over once a single one waits: the receiver keeps up again.
      lane.isFlooded = lane.waiting.length > (lane.isFlooded ? 1 : digest.above)
      if (lane.isFlooded) return takeDigest(lane.waiting, digest.most)
    }
    return takeInOrder(lane.waiting, lane)
  }

  /** It waits for no pause, only for the pace of its kind of receiver, which a burst of it would overrun as well. */
  #takeWanted(channelId: string, lane: ChannelLane): DeliveryJob[] {
    const [first] = lane.atOnce
    if (first === undefined || [...lane.active.keys()].some(job => job.atOnce)) return []
    return this.#targets.mayStart(first.paceTarget, channelId) ? takeInOrder(lane.atOnce, lane) : []
  }

  #wakeAfter(channelId: string, lane: ChannelLane, waitMs: number): void {
    lane.cancelWake ??= this.#options.clock.schedule(waitMs, () => {
      lane.cancelWake = undefined
      this.#giveTurn(channelId)
    })
  }

  #giveTurn(channelId: string): void {
    this.#turns.add(channelId)
    this.pump()
  }

  #start(channelId: string, lane: ChannelLane, jobs: readonly DeliveryJob[]): void {
    const [first] = jobs as [DeliveryJob]
    const { atOnce, paceTarget } = first
    const isOfFailing = this.#isFailing(channelId) && !atOnce
    const nowMs = this.#options.clock.now()
    this.#active++
    if (isOfFailing) this.#activeFailing++
    if (!atOnce) lane.attempts++
    this.#targets.keepApart(paceTarget, lane.limits.intervalMs)
    for (const job of jobs) lane.active.set(job, nowMs)
    const end = (shown: ChannelSignal | undefined) => {
      this.#active--
      if (isOfFailing) this.#activeFailing--
      this.#size -= jobs.length
      if (!atOnce) {
        lane.attempts--
        lane.noteAttempt(this.#options.clock.now() - nowMs)
      }
      for (const job of jobs) lane.active.delete(job)
      // The receiver counts what reaches it, which may be a while after the start, and be two messages of one attempt.
      this.#targets.keepApart(paceTarget, lane.limits.intervalMs)
      if (shown !== undefined) this.#paces.noteEnd(channelId, shown)
      this.#sendAwayIfHeld(channelId, lane)
      if (lane.waiting.length + lane.atOnce.length > 0) this.#turns.add(channelId)
      this.#forgetIfEmpty(channelId, lane)
      this.pump()
    }
    this.#options.run(jobs).then(end, () => end(undefined))
  }

  /** What waits for a receiver that is left alone for longer waits on a delay line. */
  #sendAwayIfHeld(channelId: string, lane: ChannelLane): void {
    const heldForMs = this.#paces.heldForMs(channelId)
    if (heldForMs <= SHORT_PAUSE_MS || lane.waiting.length === 0) return
    const held = lane.waiting.splice(0)
    this.#size -= held.length
    this.#options.onHeld(held, heldForMs)
  }

  #drainMs(lane: ChannelLane | undefined, jobs: number): number {
    return lane?.drainMs(jobs, this.#options.clock.now(), this.#targets.sharersOf(lane.paceTarget)) ?? 0
  }

  /** What is behind it in its partition, for other channels, would wait for each of these turns, however quick its receiver is. */
  #turnsComeEveryMs(lane: ChannelLane | undefined): number {
    return lane === undefined ? 0 : lane.limits.intervalMs * this.#targets.sharersOf(lane.paceTarget)
  }

  #patience(ms: number): number {
    return this.#options.isOverloaded() ? ms * PATIENCE_WHEN_OVERLOADED : ms
  }

  #forgetIfEmpty(channelId: string, lane: ChannelLane): void {
    if (!lane.isEmpty || this.#lanes.get(channelId) !== lane) return
    lane.cancelWake?.()
    this.#lanes.delete(channelId)
    this.#targets.leave(lane.paceTarget)
  }
}

function takeFirst(set: Set<string>): string {
  const [first] = set as Iterable<string> as [string]
  set.delete(first)
  return first
}

/** The first jobs of the queue that may be told together, or the first one alone. */
function takeDigest(queue: DeliveryJob[], most: number): DeliveryJob[] {
  const alone = queue.findIndex(job => job.goesAlone)
  return queue.splice(0, alone === -1 ? most : Math.min(most, Math.max(alone, 1)))
}

/** Looking a little ahead is enough: a long row of one incident is rare, and then waiting is right. */
const LOOK_AHEAD = 32

/** Takes out the first job whose incident has none under way. */
function takeInOrder(queue: DeliveryJob[], { active }: ChannelLane): DeliveryJob[] {
  const busyKeys = new Set([...active.keys()].map(job => job.orderingKey))
  const ahead = Math.min(queue.length, LOOK_AHEAD)
  for (let index = 0; index < ahead; index++) {
    if (!busyKeys.has((queue[index] as DeliveryJob).orderingKey)) return queue.splice(index, 1)
  }
  return []
}
