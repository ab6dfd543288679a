import type { Clock } from '@backstop/kit'

/** quick: the provider answered last time. slow: it did not, was never asked, or takes long just now. */
export type Compartment = 'quick' | 'slow'

export interface BulkheadOptions {
  readonly clock: Clock
  /** Places in each compartment. */
  readonly places: Readonly<Record<Compartment, number>>
  /** How long a job may hold a quick place, in milliseconds. Then it counts as slow, and its place is free. */
  readonly quickForMs: number
  /** Called when a place became free. */
  onFree(): void
}

/**
 * Keeps providers that do not answer from taking the places of those that do. A job that turns out to be slow is moved: the
 * slow compartment may hold more than its places then, and takes no other job until it holds fewer again.
 */
export class Bulkhead {
  readonly #options: BulkheadOptions
  readonly #taken: Record<Compartment, number> = { quick: 0, slow: 0 }

  constructor(options: BulkheadOptions) {
    this.#options = options
  }

  hasPlace(compartment: Compartment): boolean {
    return this.#taken[compartment] < this.#options.places[compartment]
  }

  /** Runs a job, which ends by itself: whoever gives it sets its deadline. */
  async run(compartment: Compartment, job: () => Promise<void>): Promise<void> {
    const { clock, quickForMs, onFree } = this.#options
    let place = compartment
    this.#taken[place]++
    const move = () => {
      this.#taken.quick--
      this.#taken.slow++
      place = 'slow'
      onFree()
    }
    const cancel = compartment === 'quick' ? clock.schedule(quickForMs, move) : () => {}
    try {
      await job()
    } finally {
      cancel()
      this.#taken[place]--
      onFree()
    }
  }
}
