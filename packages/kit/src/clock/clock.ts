/** Time as a port, so that a whole service can run on virtual time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls the callback once after `delayMs`. @returns a function that cancels the call */
  schedule(delayMs: number, callback: () => void): () => void
}

/**
 * The largest difference between the clocks of two processes that a due time is trusted for, in milliseconds. A due time further ahead is
 * invalid.
 */
export const MAX_CLOCK_DIFFERENCE_MS = 300_000

/** The host's wall clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Milliseconds since an arbitrary moment, for durations: a change of the host's time does not affect it. */
export const monotonicClock: Clock = { now: () => performance.now(), schedule: systemClock.schedule }

/** Resolves after `delayMs`, or at once if `signal` is aborted. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const done = () => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.schedule(delayMs, done)
    signal?.addEventListener('abort', done, { once: true })
  })
}
