import { type Clock, sleep } from '@backstop/kit'

/** Waits for the outcome of a message in the documents of the service that processes it. */
export interface OutcomeWatcher {
  /**
   * Polls until there is an outcome.
   * @param timeoutMs limit of the wait, in milliseconds
   * @param signal ends the wait
   * @returns undefined if the wait ended without an outcome
   */
  watch<T>(look: () => Promise<T | undefined>, atMostMs: number, signal: AbortSignal): Promise<T | undefined>
}

/** Pause between two reads: short at first, because most outcomes come quickly, then longer. */
const FIRST_LOOK_MS = 25
const SLOWEST_LOOK_MS = 500

/** @param longestMs upper limit of every wait in milliseconds, with which tests shorten the waits */
export function createOutcomeWatcher(clock: Clock, longestMs = Number.POSITIVE_INFINITY): OutcomeWatcher {
  return {
    async watch(look, atMostMs, signal) {
      const deadline = clock.now() + Math.min(atMostMs, longestMs)
      for (let pauseMs = FIRST_LOOK_MS; clock.now() < deadline && !signal.aborted; ) {
        const seen = await look()
        if (seen !== undefined) return seen
        await sleep(clock, pauseMs, signal)
        pauseMs = Math.min(pauseMs * 2, SLOWEST_LOOK_MS)
      }
      return undefined
    },
  }
}
