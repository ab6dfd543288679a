import type { Clock } from '@backstop/kit'

/** quick: the provider answered last time. slow: it did not answer, was never asked, or takes long now. */
export type Compartment = 'quick' | 'slow'

export interface BulkheadOptions {
  readonly clock: Clock
  readonly places: Readonly<Record<Compartment, number>>
  /**
   * How long a job may use a quick place, in milliseconds. After that it counts as slow, and its quick place is free.
   */
  readonly quickForMs: number
  /** Called when a place became free. */
  onFree(): void
}

/**
 * Limits concurrent jobs, so that providers that do not answer leave places for those that do. A quick job that takes
 * long is moved to the slow compartment. That may exceed the compartment's limit; then it starts no job until it is
 * below its limit again.
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

  /** Runs a job. The caller must give the job a deadline. */
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
