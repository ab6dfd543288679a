import type { Clock } from '../src/clock/clock.ts'

/** A clock that stands still until `advance` is called. */
export interface ManualClock extends Clock {
  /**
   * Advances the time by `ms` and runs the due callbacks, each at its due time, and waits until the work it started has
   * settled.
   */
  advance(ms: number): Promise<void>
  /** Waits until all pending promises that need no time have settled; not for sockets, files and threads. */
  settle(): Promise<void>
}

interface Timer {
  readonly atMs: number
  readonly callback: () => void
}

/** The most event-loop turns in `settle`: enough for long chains of work that waits for the next turn. */
const MAX_TURNS = 20

export function createManualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let now = startMs
  const timers = new Set<Timer>()
  const settle = async () => {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await new Promise<void>(resolve => setImmediate(resolve))
      // Promises have settled before a turn begins. Only work that waits for a turn itself needs one more.
      if (!process.getActiveResourcesInfo().includes('Immediate')) return
    }
  }
  return {
    now: () => now,
    schedule(delayMs, callback) {
      const timer = { atMs: now + Math.max(0, delayMs), callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    settle,
    async advance(ms) {
      const target = now + ms
      await settle()
      for (let next = earliestOf(timers); next !== undefined && next.atMs <= target; next = earliestOf(timers)) {
        timers.delete(next)
        now = Math.max(now, next.atMs)
        next.callback()
        await settle()
      }
      now = target
    },
  }
}

/** Of timers with the same time, the one that was scheduled first: a Set keeps their order. */
function earliestOf(timers: ReadonlySet<Timer>): Timer | undefined {
  let earliest: Timer | undefined
  for (const timer of timers) if (earliest === undefined || timer.atMs < earliest.atMs) earliest = timer
  return earliest
}
