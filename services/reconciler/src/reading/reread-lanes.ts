import type { ProviderHealth } from '@backstop/providers'
import { Bulkhead, type BulkheadOptions, type Compartment } from './bulkhead.ts'

/** One re-read of a connection. It must end by itself and must not throw. */
export type Job = () => Promise<void>

interface Lane {
  readonly waiting: Job[]
  active: number
  /** Limit of running jobs while the provider answers. */
  concurrent: number
}

export interface RereadLanesOptions extends Omit<BulkheadOptions, 'onFree'> {
  /** Limit of queued jobs for one connection. Further jobs are postponed. */
  readonly maxWaiting: number
  /** The same limit for a provider that fails. It is asked one question at a time. */
  readonly maxWaitingForFailing: number
  healthOf(connectionId: string): ProviderHealth
}

/**
 * One queue for each connection, with limited concurrency, so that a slow provider delays only its own connection. The
 * connections are served in rotation, and those that do not answer have separate places.
 */
export class RereadLanes {
  readonly #options: RereadLanesOptions
  readonly #bulkhead: Bulkhead
  readonly #lanes = new Map<string, Lane>()
  /** Connections that may have a job to start, in the order of rotation. */
  readonly #rotation = new Set<string>()
  #size = 0

  constructor(options: RereadLanesOptions) {
    this.#options = options
    this.#bulkhead = new Bulkhead({ ...options, onFree: () => this.#startNext() })
  }

  /** The number of queued and running jobs. */
  get size(): number {
    return this.#size
  }

  /** True if the connection's queue has room for one more job. */
  hasRoom(connectionId: string): boolean {
    const { maxWaiting, maxWaitingForFailing, healthOf } = this.#options
    const most = healthOf(connectionId) === 'failing' ? maxWaitingForFailing : maxWaiting
    return (this.#lanes.get(connectionId)?.waiting.length ?? 0) < most
  }

  /** @param concurrent limit of running jobs for this connection */
  add(connectionId: string, concurrent: number, job: Job): void {
    const lane = this.#lanes.get(connectionId) ?? { waiting: [], active: 0, concurrent }
    this.#lanes.set(connectionId, lane)
    lane.concurrent = concurrent
    lane.waiting.push(job)
    this.#size++
    this.#rotation.add(connectionId)
    this.#startNext()
  }

  #startNext(): void {
    for (const connectionId of this.#rotation) {
      const lane = this.#lanes.get(connectionId)
      const health = this.#options.healthOf(connectionId)
      const job = lane?.waiting[0]
      const isFull = lane !== undefined && lane.active >= (health === 'failing' ? 1 : lane.concurrent)
      if (lane === undefined || job === undefined || isFull) {
        // The connection is added again when one of its jobs ends.
        this.#rotation.delete(connectionId)
        continue
      }
      const compartment = health === 'answering' ? 'quick' : 'slow'
      if (!this.#bulkhead.hasPlace(compartment)) continue
      lane.waiting.shift()
      // The connection moves to the end of the rotation.
      this.#rotation.delete(connectionId)
      this.#rotation.add(connectionId)
      this.#start(connectionId, lane, compartment, job)
    }
  }

  #start(connectionId: string, lane: Lane, compartment: Compartment, job: Job): void {
    lane.active++
    void this.#bulkhead.run(compartment, async () => {
      try {
        await job()
      } finally {
        lane.active--
        this.#size--
        if (lane.waiting.length > 0) this.#rotation.add(connectionId)
        else if (lane.active === 0) this.#remove(connectionId)
      }
    })
  }

  #remove(connectionId: string): void {
    this.#lanes.delete(connectionId)
    this.#rotation.delete(connectionId)
  }
}
