import type { Clock } from '@backstop/kit/clock'

/** quick: the provider answered last time. slow: it did not answer, was never asked, or takes long now. */
export type Compartment = 'quick' | 'slow'

export interface BulkheadOptions<Name extends string = Compartment> {
  readonly clock: Clock
  readonly places: Readonly<Record<Name | 'slow', number>>
  /**
   * How long a job may use a place outside of the slow compartment, in milliseconds. After that it counts as slow, and its place is free.
   */
  readonly quickForMs: number
  /** Called when a place of a compartment became free. */
  onFree(compartment: Name | 'slow'): void
}

/**
 * Limits concurrent jobs, so that providers that do not answer leave places for those that do. A job that takes long is moved to
 * the slow compartment. That may exceed the compartment's limit; then it starts no job until it is below its limit again.
 */
export class Bulkhead<Name extends string = Compartment> {
  readonly #options: BulkheadOptions<Name>
  readonly #taken = new Map<Name | 'slow', number>()

  constructor(options: BulkheadOptions<Name>) {
    this.#options = options
  }

  hasPlace(compartment: Name | 'slow'): boolean {
    return this.#takenIn(compartment) < this.#options.places[compartment]
  }

  /** Runs a job. The caller must give the job a deadline. */
  async run(compartment: Name | 'slow', job: () => Promise<void>): Promise<void> {
    const { clock, quickForMs } = this.#options
    let place = compartment
    this.#take(place)
    const move = () => {
      this.#take('slow')
      place = 'slow'
      this.#free(compartment)
    }
    const cancel = compartment === 'slow' ? () => {} : clock.schedule(quickForMs, move)
    try {
      await job()
    } finally {
      cancel()
      this.#free(place)
    }
  }

  #takenIn(compartment: Name | 'slow'): number {
    return this.#taken.get(compartment) ?? 0
  }

  #take(compartment: Name | 'slow'): void {
    this.#taken.set(compartment, this.#takenIn(compartment) + 1)
  }

  #free(compartment: Name | 'slow'): void {
    this.#taken.set(compartment, this.#takenIn(compartment) - 1)
    this.#options.onFree(compartment)
  }
}
