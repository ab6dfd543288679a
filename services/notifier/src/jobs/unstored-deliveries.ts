import type { Clock } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { DeliveryStore } from '../delivery-record/delivery-store.ts'
import { type DeliveryJob, documentOf } from './delivery-job.ts'

/** A new delivery whose first attempt has not ended after this time is stored as pending, in milliseconds. */
const STORE_AFTER_MS = 1_000
/** Minimum time between two such commands, in milliseconds. */
const LEAST_PAUSE_MS = 100

export interface UnstoredDeliveriesOptions {
  readonly deliveries: Pick<DeliveryStore, 'insertNew'>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The new deliveries in memory that are not stored yet. Most are stored once, with the outcome of their first attempt.
 * A delivery is stored as pending when its attempt takes long, before it waits on a delay line, and when a later message depends
 * on it. Until then its message in Kafka keeps it: the offset is not committed, so a crash repeats the intake.
 */
export class UnstoredDeliveries {
  readonly #options: UnstoredDeliveriesOptions
  /** By id, the oldest first. */
  readonly #jobs = new Map<string, DeliveryJob>()
  #cancelTimer: (() => void) | undefined
  #stopped = false

  constructor(options: UnstoredDeliveriesOptions) {
    this.#options = options
  }

  track(jobs: readonly DeliveryJob[]): void {
    for (const job of jobs) if (!job.isKnown) this.#jobs.set(job.request.delivery_id, job)
    this.#schedule(STORE_AFTER_MS)
  }

  has(deliveryId: string): boolean {
    return this.#jobs.has(deliveryId)
  }

  /** Call it for each delivery that is stored with its outcome, or left to another process. */
  forget(deliveryId: string): void {
    this.#jobs.delete(deliveryId)
  }

  /**
   * Stores those of these deliveries that are not stored yet as pending. A delivery whose outcome is stored meanwhile keeps it.
   * @throws AppError `unavailable` if the database is unavailable
   */
  async store(deliveryIds: readonly string[]): Promise<void> {
    const jobs = deliveryIds.flatMap(id => this.#jobs.get(id) ?? [])
    if (jobs.length === 0) return
    await this.#options.deliveries.insertNew(jobs.map(documentOf))
    for (const { request } of jobs) this.forget(request.delivery_id)
  }

  /** Stores no further deliveries by itself. */
  stop(): void {
    this.#stopped = true
    this.#cancelTimer?.()
  }

  #schedule(delayMs: number): void {
    if (this.#stopped || this.#jobs.size === 0) return
    this.#cancelTimer ??= this.#options.clock.schedule(delayMs, () => void this.#storeOverdue())
  }

  async #storeOverdue(): Promise<void> {
    const { clock, logger } = this.#options
    const overdue: string[] = []
    for (const [id, { receivedAtMs }] of this.#jobs) {
      if (receivedAtMs > clock.now() - STORE_AFTER_MS) break
      overdue.push(id)
    }
    try {
      await this.store(overdue)
    } catch (error) {
      logger.warn({ deliveries: overdue.length, error }, 'deliveries.not_stored')
    }
    this.#cancelTimer = undefined
    const [oldest] = this.#jobs.values()
    const dueInMs = (oldest?.receivedAtMs ?? 0) + STORE_AFTER_MS - clock.now()
    this.#schedule(Math.max(dueInMs, LEAST_PAUSE_MS))
  }
}
