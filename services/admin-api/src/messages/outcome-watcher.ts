import { type Clock, sleep } from '@backstop/kit/clock'

/** Waits for the outcome of a message in the documents of the service that processes it. */
export interface OutcomeWatcher {
  /**
   * Polls until there is an outcome.
   * @param timeoutMs limit of the wait, in milliseconds
   * @param signal ends the wait
   * @returns undefined if the wait ended without an outcome
   */
  waitFor<T>(poll: () => Promise<T | undefined>, timeoutMs: number, signal: AbortSignal): Promise<T | undefined>
}

/** Pause between two reads: short at first, because most outcomes come quickly, then longer. */
const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 500

/** @param longestMs upper limit of every wait in milliseconds, with which tests shorten the waits */
export function createOutcomeWatcher(clock: Clock, longestMs = Number.POSITIVE_INFINITY): OutcomeWatcher {
  return {
    async waitFor(poll, timeoutMs, signal) {
      const deadline = clock.now() + Math.min(timeoutMs, longestMs)
      for (let pauseMs = FIRST_PAUSE_MS; clock.now() < deadline && !signal.aborted; ) {
        const seen = await poll()
        if (seen !== undefined) return seen
        await sleep(clock, pauseMs, signal)
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      }
      return undefined
    },
  }
}
