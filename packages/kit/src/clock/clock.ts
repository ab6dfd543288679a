/** Time as a port, so that a whole service can run on virtual time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back once after `delayMs`; the answer cancels it. An error in `callback` is a fault of the caller's. */
  schedule(delayMs: number, callback: () => void): () => void
}

/** The wall clock. Its timers keep no process alive by themselves. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Resolves after `delayMs`, or at once when `signal` is aborted. */
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
