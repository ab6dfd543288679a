import type { DeliveryJob } from './delivery-job.ts'

/** What the kind of a channel takes. */
export interface ChannelLimits {
  /** Attempts under way at once. */
  readonly concurrency: number
  /**
   * The least time between one attempt at the place that a channel posts to and the start of the next, in milliseconds; 0
   * where any number is taken.
   */
  readonly intervalMs: number
  /**
   * With more waiting than `above`, up to `most` of them are told in one attempt, and so is the rest until none wait;
   * null where each goes alone.
   */
  readonly digest: { readonly above: number; readonly most: number } | null
}

/** How much the latest attempt weighs in what is taken for the usual one. */
const WEIGHT_OF_LATEST = 0.2

/** The jobs of one channel, and how long its receiver takes for one. */
export class ChannelLane {
  readonly limits: ChannelLimits
  /** The place that its channel posted to when it was opened (ChannelPace); undefined where that takes any number of attempts. */
  readonly paceTarget: string | undefined
  readonly waiting: DeliveryJob[] = []
  /** What is wanted at once runs beside the rest, one at a time. */
  readonly atOnce: DeliveryJob[] = []
  /** When each job under way began, in milliseconds since the epoch. */
  readonly active = new Map<DeliveryJob, number>()
  /** Attempts under way that nobody wanted at once: a digest is one, however many jobs it tells. */
  attempts = 0
  /** Whether a flood is being told: told one by one, its last twenty would take longer than all before them. */
  isFlooded = false
  /** Set while a pause is waited for. */
  cancelWake: (() => void) | undefined
  #usualMs: number | undefined

  constructor(limits: ChannelLimits, paceTarget: string | undefined) {
    this.limits = limits
    this.paceTarget = paceTarget
  }

  get isEmpty(): boolean {
    return this.waiting.length + this.atOnce.length + this.active.size === 0
  }

  noteAttempt(durationMs: number): void {
    this.#usualMs =
      this.#usualMs === undefined ? durationMs : this.#usualMs + (durationMs - this.#usualMs) * WEIGHT_OF_LATEST
  }

  /** How long the receiver takes for one attempt, or at least has taken so far, with the pause that it wants. */
  attemptMs(nowMs: number): number {
    const [activeSince = nowMs] = this.active.values()
    return Math.max(this.#usualMs ?? 0, nowMs - activeSince, this.limits.intervalMs)
  }

  /**
   * In how long so many waiting jobs are through, going by the receiver alone. How long they have waited already says
   * nothing about it: after an outage everything has, for every receiver.
   * @param sharers how many channels with work take turns at the place that this one posts to, itself included
   */
  drainMs(jobs: number, nowMs: number, sharers: number): number {
    const { concurrency, intervalMs, digest } = this.limits
    const isFlood = digest !== null && (this.isFlooded || jobs > digest.above)
    const attempts = isFlood ? this.#attemptsOfFlood(jobs, digest.most) : jobs
    return attempts * Math.max(this.attemptMs(nowMs) / concurrency, intervalMs * sharers)
  }

  /** What was refused in a digest takes an attempt each: a flood of that takes a hundred times as long. */
  #attemptsOfFlood(jobs: number, most: number): number {
    const alone = this.waiting.filter(job => job.goesAlone).length
    return alone + (jobs - alone) / most
  }

  /** For how long its oldest job has been here, in milliseconds; 0 when there is none. */
  oldestMs(nowMs: number): number {
    const [activeSince = nowMs] = this.active.values()
    return nowMs - Math.min(activeSince, this.waiting[0]?.receivedAtMs ?? nowMs, this.atOnce[0]?.receivedAtMs ?? nowMs)
  }
}
