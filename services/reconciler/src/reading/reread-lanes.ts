import type { Standing } from '@backstop/providers'
import { Bulkhead, type BulkheadOptions, type Compartment } from './bulkhead.ts'

/** One piece of work of a connection. It ends by itself and never throws. */
export type Job = () => Promise<void>

interface Lane {
  readonly waiting: Job[]
  active: number
  /** How many jobs may be under way at once while the provider answers. */
  concurrent: number
}

export interface RereadLanesOptions extends Omit<BulkheadOptions, 'onFree'> {
  /** Askings that wait for one connection beyond which further ones are deferred. */
  readonly maxWaiting: number
  /** The same where the provider fails, which is asked one question at a time. */
  readonly maxWaitingForFailing: number
  standingOf(connectionId: string): Standing
}

/**
 * A queue for each connection with bounded concurrency, so that a provider that is slow or limits its callers costs its
 * own connection and no other. Connections take turns, and those that do not answer have places of their own.
 */
export class RereadLanes {
  readonly #options: RereadLanesOptions
  readonly #bulkhead: Bulkhead
  readonly #lanes = new Map<string, Lane>()
  /** Connections that may have something to start, in the order of their turns. */
  readonly #turns = new Set<string>()
  #size = 0

  constructor(options: RereadLanesOptions) {
    this.#options = options
    this.#bulkhead = new Bulkhead({ ...options, onFree: () => this.#pump() })
  }

  /** Jobs waiting and under way. */
  get size(): number {
    return this.#size
  }

  /** Whether one more job of the connection finds a place. */
  hasRoom(connectionId: string): boolean {
    const { maxWaiting, maxWaitingForFailing, standingOf } = this.#options
    const most = standingOf(connectionId) === 'failing' ? maxWaitingForFailing : maxWaiting
    return (this.#lanes.get(connectionId)?.waiting.length ?? 0) < most
  }

  /** @param concurrent how many jobs of this connection may be under way at once */
  add(connectionId: string, concurrent: number, job: Job): void {
    const lane = this.#lanes.get(connectionId) ?? { waiting: [], active: 0, concurrent }
    this.#lanes.set(connectionId, lane)
    lane.concurrent = concurrent
    lane.waiting.push(job)
    this.#size++
    this.#turns.add(connectionId)
    this.#pump()
  }

  #pump(): void {
    for (const connectionId of this.#turns) {
      const lane = this.#lanes.get(connectionId)
      const standing = this.#options.standingOf(connectionId)
      const job = lane?.waiting[0]
      const isFull = lane !== undefined && lane.active >= (standing === 'failing' ? 1 : lane.concurrent)
      if (lane === undefined || job === undefined || isFull) {
        // The end of one of its jobs brings it back.
        this.#turns.delete(connectionId)
        continue
      }
      const compartment = standing === 'answering' ? 'quick' : 'slow'
      if (!this.#bulkhead.hasPlace(compartment)) continue
      lane.waiting.shift()
      // Behind all others.
      this.#turns.delete(connectionId)
      this.#turns.add(connectionId)
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
        if (lane.waiting.length > 0) this.#turns.add(connectionId)
        else if (lane.active === 0) this.#remove(connectionId)
      }
    })
  }

  #remove(connectionId: string): void {
    this.#lanes.delete(connectionId)
    this.#turns.delete(connectionId)
  }
}
