import { type Clock, systemClock } from '../src/clock/clock.ts'

/** The system's clock, which a test can put ahead. For tests over real sockets and databases, which cannot stand still. */
export interface AheadClock extends Clock {
  /** Puts the clock ahead by `ms`. Callbacks that are due by then are called in a later turn of the event loop. */
  advance(ms: number): void
}

export function createAheadClock(): AheadClock {
  let aheadMs = 0
  const timers = new Set<{ start(): void }>()
  const now = () => systemClock.now() + aheadMs
  return {
    now,
    schedule(delayMs, callback) {
      const dueAtMs = now() + delayMs
      let cancel = () => {}
      const timer = {
        start() {
          cancel()
          cancel = systemClock.schedule(Math.max(0, dueAtMs - now()), () => {
            timers.delete(timer)
            callback()
          })
        },
      }
      timers.add(timer)
      timer.start()
      return () => {
        timers.delete(timer)
        cancel()
      }
    },
    advance(ms) {
      aheadMs += ms
      for (const timer of timers) timer.start()
    },
  }
}
