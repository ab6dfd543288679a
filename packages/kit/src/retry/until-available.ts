import { type Clock, sleep } from '../clock/clock.ts'
import { type AppError, isRetryable } from '../errors.ts'
import { LONGEST_PAUSE_MS, pauseMsAfterFailures } from './backoff.ts'

export interface RetryOptions {
  readonly clock: Clock
  /** Ends the retries. `act` is called at least once. */
  readonly signal?: AbortSignal | undefined
  /** Longest pause between two calls, in milliseconds; 30000 by default. */
  readonly longestPauseMs?: number
  /** Called before each pause. An error thrown here ends the retries, after a deadline for example. */
  onFailure?(error: AppError, pauseMs: number): void
}

/**
 * Calls `act` until it succeeds, with a growing pause after each retryable failure.
 * @throws the reason of `signal` when it is aborted, and any error that is not retryable
 */
export async function untilAvailable<T>(act: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { clock, signal, longestPauseMs = LONGEST_PAUSE_MS } = options
  for (let failures = 1; ; failures++) {
    try {
      return await act()
    } catch (error) {
      if (!isRetryable(error)) throw error
      signal?.throwIfAborted()
      const pauseMs = Math.min(pauseMsAfterFailures(failures), longestPauseMs)
      options.onFailure?.(error, pauseMs)
      await sleep(clock, pauseMs, signal)
      signal?.throwIfAborted()
    }
  }
}
