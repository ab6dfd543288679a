/** Time as the actors of the world see it. */
export interface WorldClock {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Calls `act` after a delay in milliseconds. If it returns a promise, the world waits for it. @returns a function that cancels it */
  schedule(delayMs: number, act: () => unknown): () => void
}

/** Everything that actors of the world will still do. A run ends when nothing is left. */
export class Agenda implements WorldClock {
  readonly #clock: WorldClock
  #open = 0

  constructor(clock: WorldClock) {
    this.#clock = clock
  }

  get now(): number {
    return this.#clock.now
  }

  /** The number of things that are planned or in progress. */
  get open(): number {
    return this.#open
  }

  schedule(delayMs: number, act: () => unknown): () => void {
    this.#open += 1
    let isOpen = true
    const done = () => {
      if (isOpen) this.#open -= 1
      isOpen = false
    }
    const cancel = this.#clock.schedule(delayMs, () => {
      const acted = act()
      if (acted instanceof Promise) void acted.finally(done)
      else done()
    })
    return () => {
      cancel()
      done()
    }
  }
}

/** Resolves after some milliseconds. */
export function wait(clock: WorldClock, ms: number): Promise<void> {
  return new Promise(resolve => void clock.schedule(ms, resolve))
}
