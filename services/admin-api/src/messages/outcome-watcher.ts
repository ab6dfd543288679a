import { type Clock, sleep } from '@backstop/kit'

/** Waits for what another service makes of a message: it shows in that service's own documents. */
export interface OutcomeWatcher {
  /**
   * Looks until there is something to see.
   * @param atMostMs how long it looks, in milliseconds
   * @param signal aborted when nobody is to wait any longer
   * @returns undefined when there was nothing by then
   */
  watch<T>(look: () => Promise<T | undefined>, atMostMs: number, signal: AbortSignal): Promise<T | undefined>
}

/** How often it looks: at first as quickly as a good outcome comes, then less often. */
const FIRST_LOOK_MS = 25
const SLOWEST_LOOK_MS = 500

/** @param longestMs no wait is longer, whatever was asked for: tests shorten them by it */
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
