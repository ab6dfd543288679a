/** One piece of work of a connection. It never throws. */
export type Job = () => Promise<void>

interface Lane {
  readonly waiting: Job[]
  active: number
}

export interface RereadLanesOptions {
  /** Askings under way at once in this process. */
  readonly maxActive: number
  /** Askings that wait for one connection beyond which further ones are put off. */
  readonly maxWaiting: number
}

/**
 * A queue for each connection with bounded concurrency, so that a provider that is slow or limits its callers costs its
 * own connection and no other. Connections take turns.
 */
export class RereadLanes {
  readonly #options: RereadLanesOptions
  readonly #lanes = new Map<string, Lane>()
  /** Connections that may have something to start, in the order of their turns. */
  readonly #turns = new Set<string>()
  readonly #limits = new Map<string, number>()
  #active = 0
  #size = 0

  constructor(options: RereadLanesOptions) {
    this.#options = options
  }

  /** Jobs waiting and under way. */
  get size(): number {
    return this.#size
  }

  /** Whether one more job of the connection finds a place. */
  hasRoom(connectionId: string): boolean {
    return (this.#lanes.get(connectionId)?.waiting.length ?? 0) < this.#options.maxWaiting
  }

  /** @param concurrent how many jobs of this connection may be under way at once */
  add(connectionId: string, concurrent: number, job: Job): void {
    const lane = this.#lanes.get(connectionId) ?? { waiting: [], active: 0 }
    this.#lanes.set(connectionId, lane)
    this.#limits.set(connectionId, concurrent)
    lane.waiting.push(job)
    this.#size++
    if (lane.active < concurrent) this.#turns.add(connectionId)
    this.#pump()
  }

  #pump(): void {
    while (this.#active < this.#options.maxActive) {
      const [connectionId] = this.#turns
      if (connectionId === undefined) return
      this.#turns.delete(connectionId)
      const lane = this.#lanes.get(connectionId)
      const limit = this.#limits.get(connectionId) ?? 1
      if (lane === undefined || lane.active >= limit) continue
      const job = lane.waiting.shift()
      if (job === undefined) continue
      this.#start(connectionId, lane, job)
      if (lane.active < limit && lane.waiting.length > 0) this.#turns.add(connectionId)
    }
  }

  #start(connectionId: string, lane: Lane, job: Job): void {
    lane.active++
    this.#active++
    void job().finally(() => {
      lane.active--
      this.#active--
      this.#size--
      if (lane.waiting.length > 0) this.#turns.add(connectionId)
      else if (lane.active === 0) this.#forget(connectionId)
      this.#pump()
    })
  }

  #forget(connectionId: string): void {
    this.#lanes.delete(connectionId)
    this.#limits.delete(connectionId)
    this.#turns.delete(connectionId)
  }
}
