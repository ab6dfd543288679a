import type { Clock } from '@backstop/kit'

/** A clock that moves only when it is told to, running what falls due in order. */
export class ManualClock implements Clock {
  #now: number
  #sequence = 0
  #due: { atMs: number; sequence: number; callback: () => void }[] = []

  constructor(nowMs: number) {
    this.#now = nowMs
  }

  now(): number {
    return this.#now
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const entry = { atMs: this.#now + delayMs, sequence: this.#sequence++, callback }
    this.#due.push(entry)
    return () => {
      this.#due = this.#due.filter(other => other !== entry)
    }
  }

  /** Moves on by `ms`; promises that settle on the way are followed up before the next callback. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await settlePromises()
    for (;;) {
      const [next] = this.#due
        .filter(entry => entry.atMs <= end)
        .sort((a, b) => a.atMs - b.atMs || a.sequence - b.sequence)
      if (next === undefined) break
      this.#due = this.#due.filter(entry => entry !== next)
      this.#now = next.atMs
      next.callback()
      await settlePromises()
    }
    this.#now = end
    await settlePromises()
  }
}

/** Lets every promise that can settle without time or I/O settle. */
export function settlePromises(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
