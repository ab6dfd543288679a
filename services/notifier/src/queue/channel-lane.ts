import { type DeliveryJob, digestIdOf, isFirstAttempt } from '../jobs/delivery-job.ts'

/** The limits of a channel kind. */
export interface ChannelLimits {
  /** Maximum number of concurrent attempts for one channel. */
  readonly concurrency: number
  /** Minimum time between two attempts at one target, in milliseconds; 0 if the kind has no such limit. */
  readonly intervalMs: number
  /**
   * If more than `above` jobs wait, up to `most` of them are sent in one digest, until the queue is empty. Null: the
   * kind has no digests.
   */
  readonly digest: { readonly above: number; readonly most: number } | null
}

/** Weight of the latest attempt in the moving average of the attempt duration. */
const WEIGHT_OF_LATEST = 0.2

/** The jobs of one channel, and the average duration of its attempts. */
export class ChannelLane {
  readonly limits: ChannelLimits
  /** The target of the channel's attempts when the lane was created; undefined if the kind has no pace limit. */
  readonly paceTarget: string | undefined
  readonly waiting: DeliveryJob[] = []
  /** Urgent jobs. One of them may run beside the other jobs. */
  readonly atOnce: DeliveryJob[] = []
  /** Start time of each running job, in milliseconds since the epoch. */
  readonly active = new Map<DeliveryJob, number>()
  /** Number of running attempts without the urgent ones. A digest is one attempt. */
  attempts = 0
  /**
   * True while waiting jobs are sent as digests. The mode lasts until the queue is empty: the last twenty jobs sent one
   * by one would take longer than all digests before them.
   */
  isFlooded = false
  /** Cancels the timer of the channel's pause; undefined if no timer is set. */
  cancelWake: (() => void) | undefined
  #usualMs: number | undefined

  constructor(limits: ChannelLimits, paceTarget: string | undefined) {
    this.limits = limits
    this.paceTarget = paceTarget
  }

  get isEmpty(): boolean {
    return this.waiting.length + this.atOnce.length + this.active.size === 0
  }

  /** Keeps the first attempts of the oldest alerts, up to `most`. @returns the removed jobs */
  removeAllButFirstAttempts(most: number): DeliveryJob[] {
    const kept = this.waiting.filter(isFirstAttempt).sort(byAgeOfAlert).slice(0, most)
    const removed = this.waiting.filter(job => !kept.includes(job))
    if (removed.length > 0) this.waiting.splice(0, this.waiting.length, ...kept)
    return removed
  }

  /** Moves the first attempts before the retries, the oldest alert first, because a failing channel gets few attempts. */
  putFirstAttemptsAhead(): void {
    const first = this.waiting.filter(isFirstAttempt).sort(byAgeOfAlert)
    if (first.length === 0) return
    this.waiting.splice(0, this.waiting.length, ...first, ...this.waiting.filter(job => !isFirstAttempt(job)))
  }

  recordDuration(durationMs: number): void {
    this.#usualMs =
      this.#usualMs === undefined ? durationMs : this.#usualMs + (durationMs - this.#usualMs) * WEIGHT_OF_LATEST
  }

  /**
   * The duration of one attempt in milliseconds: the average, or the age of the running attempt, or the minimum
   * interval, whichever is longest.
   */
  attemptMs(nowMs: number): number {
    const [activeSince = nowMs] = this.active.values()
    return Math.max(this.#usualMs ?? 0, nowMs - activeSince, this.limits.intervalMs)
  }

  /**
   * Estimates when this number of waiting jobs is done, in milliseconds. Uses the speed of the receiver only: after an
   * outage of the notifier every job has waited long, so the age of a job says nothing about its receiver.
   * @param sharers number of channels with jobs for the same target, including this one
   */
  drainMs(jobs: number, nowMs: number, sharers: number): number {
    const { concurrency, intervalMs, digest } = this.limits
    const isFlood = digest !== null && (this.isFlooded || jobs > digest.above)
    const attempts = isFlood ? this.#attemptsOfFlood(jobs, digest.most) : jobs
    return attempts * Math.max(this.attemptMs(nowMs) / concurrency, intervalMs * sharers)
  }

  /** Counts the attempts for a flood. A delivery that was refused in a digest needs an attempt of its own. */
  #attemptsOfFlood(jobs: number, most: number): number {
    const alone = this.waiting.filter(job => job.goesAlone).length
    return alone + (jobs - alone) / most
  }

  /** Time in milliseconds that the next job waits for the rest of its digest; 0 if it does not. */
  gathersForMs(nowMs: number): number {
    const [first] = this.waiting
    const waitMs = Math.max(0, (first?.notBeforeMs ?? 0) - nowMs)
    return waitMs > 0 && this.hasAllOf(first?.digestGroup ?? null) ? 0 : waitMs
  }

  /** True if all deliveries of this failed digest wait here. The group of quiet hours is never complete. */
  hasAllOf(digestId: string | null): boolean {
    const members = this.waiting.filter(one => one.digestGroup === digestId)
    return members.length <= (this.limits.digest?.most ?? 0) && digestIdOf(members) === digestId
  }

  /** Age of the oldest job, in milliseconds; 0 if there is none. */
  oldestMs(nowMs: number): number {
    const [activeSince = nowMs] = this.active.values()
    return nowMs - Math.min(activeSince, this.waiting[0]?.receivedAtMs ?? nowMs, this.atOnce[0]?.receivedAtMs ?? nowMs)
  }
}

function byAgeOfAlert(a: DeliveryJob, b: DeliveryJob): number {
  return Date.parse(a.request.alert.created_at) - Date.parse(b.request.alert.created_at)
}
