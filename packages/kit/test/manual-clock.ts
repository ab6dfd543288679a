import type { Clock } from '../src/clock/clock.ts'

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  /** Moves time on by `ms` and runs what falls due, each at its own time, letting what it started come to rest first. */
  advance(ms: number): Promise<void>
  /** Lets everything that needs no time come to rest. */
  settle(): Promise<void>
}

/** Turns of the event loop that count as rest: enough for long chains of promises, and no timer is involved. */
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
