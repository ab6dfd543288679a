import type { WorldClock } from '../world/agenda.ts'

/** How many times faster the plans of the world run on real parts. The second look, which people get after a minute, is after six seconds. */
export const SPEED = 10

/** Shorter plans keep their length, in milliseconds: providers give times in whole seconds, so two changes of one object need more than one. */
const NOT_SHORTENED_MS = 1_200

/** The time of the actors on real parts: the time of the host, and delays that are shorter than planned. */
export class RealTimers implements WorldClock {
  readonly #pending = new Set<NodeJS.Timeout>()

  /** Milliseconds since the epoch. */
  get now(): number {
    return Date.now()
  }

  /** Calls `act` after a planned delay in milliseconds, SPEED times sooner. @returns a function that cancels it */
  schedule(delayMs: number, act: () => unknown): () => void {
    return this.after(Math.max(delayMs / SPEED, Math.min(delayMs, NOT_SHORTENED_MS)), act)
  }

  /** Calls `act` after milliseconds of the host. @returns a function that cancels it */
  after(delayMs: number, act: () => unknown): () => void {
    const timer = setTimeout(() => {
      this.#pending.delete(timer)
      act()
    }, delayMs)
    this.#pending.add(timer)
    return () => {
      clearTimeout(timer)
      this.#pending.delete(timer)
    }
  }

  /** Cancels everything. */
  stop(): void {
    for (const timer of this.#pending) clearTimeout(timer)
    this.#pending.clear()
  }
}
