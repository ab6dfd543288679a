import type { Clock } from '../src/clock/clock.ts'

/** A clock that stands still until `advance` is called. */
export interface ManualClock extends Clock {
  /**
   * Advances the time by `ms` and runs the due callbacks, each at its due time, and waits until the work it started has
   * settled.
   */
  advance(ms: number): Promise<void>
  /** Waits until all pending promises that need no time have settled. */
  settle(): Promise<void>
}

/** Number of event-loop turns in `settle`: enough for long chains of promises without timers. */
const TURNS = 20

export function createManualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let now = startMs
  let sequence = 0
  const timers = new Map<number, { atMs: number; callback: () => void }>()
  const settle = async () => {
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise<void>(resolve => setImmediate(resolve))
  }
  return {
    now: () => now,
    schedule(delayMs, callback) {
      sequence += 1
      const id = sequence
      timers.set(id, { atMs: now + Math.max(0, delayMs), callback })
      return () => timers.delete(id)
    },
    settle,
    async advance(ms) {
      const target = now + ms
      await settle()
      for (;;) {
        const [next] = [...timers]
          .filter(([, { atMs }]) => atMs <= target)
          .sort(([a, x], [b, y]) => x.atMs - y.atMs || a - b)
        if (next === undefined) break
        timers.delete(next[0])
        now = Math.max(now, next[1].atMs)
        next[1].callback()
        await settle()
      }
      now = target
    },
  }
}
