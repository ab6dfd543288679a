import type { DeliveryJob } from './delivery-job.ts'
import { UnrecordedOpenings } from './unrecorded-openings.ts'
import { UnstoredDeliveries, type UnstoredDeliveriesOptions } from './unstored-deliveries.ts'

/**
 * The jobs in memory whose result is not recorded yet. It owns each job from its intake to its record: `queue/` decides when the job
 * runs, and `delivery/` and `retry/` carry it out or postpone it.
 */
export class ActiveDeliveries {
  readonly #jobs = new Map<string, DeliveryJob>()
  readonly #unrecorded = new UnrecordedOpenings()
  readonly #unstored: UnstoredDeliveries

  constructor(options: UnstoredDeliveriesOptions) {
    this.#unstored = new UnstoredDeliveries(options)
  }

  /** By delivery id. */
  get byId(): ReadonlyMap<string, DeliveryJob> {
    return this.#jobs
  }

  /** True if the delivery is in the memory of this process, where it may not be stored yet. */
  has(deliveryId: string): boolean {
    return this.#jobs.has(deliveryId)
  }

  /** @returns the jobs that were added. The messages of the others join the job of the same delivery */
  add(jobs: readonly DeliveryJob[]): readonly DeliveryJob[] {
    const added = jobs.filter(job => {
      const existingJob = this.#jobs.get(job.request.delivery_id)
      // The messages of one channel are in two partitions only after a partition was added to the topic.
      existingJob?.messages.push(...job.messages)
      if (existingJob === undefined) this.#jobs.set(job.request.delivery_id, job)
      return existingJob === undefined
    })
    this.#unstored.track(added)
    return added
  }

  isUnstored(deliveryId: string): boolean {
    return this.#unstored.has(deliveryId)
  }

  /** Stores those of these deliveries as pending that are not stored yet. @throws AppError `unavailable` */
  store(deliveryIds: readonly string[]): Promise<void> {
    return this.#unstored.store(deliveryIds)
  }

  /** Call it for a job whose attempt has ended and whose outcome will be recorded. */
  noteEnded(job: DeliveryJob): void {
    this.#unrecorded.track(job)
  }

  /** Resolves when everything is stored that this process knows about these deliveries. */
  async untilStored(deliveryIds: readonly string[]): Promise<void> {
    await Promise.all(deliveryIds.map(id => this.#unrecorded.untilRecorded(id)))
    await this.#unstored.store(deliveryIds)
  }

  /** Call it for a job whose result is recorded, or that this process does not finish. */
  forget(job: DeliveryJob): void {
    const { delivery_id } = job.request
    if (this.#jobs.get(delivery_id) === job) {
      this.#jobs.delete(delivery_id)
      this.#unstored.forget(delivery_id)
    }
    this.#unrecorded.forget(delivery_id)
  }

  stop(): void {
    this.#unstored.stop()
  }
}
