import { createRequire } from 'node:module'

/** The only version that the patch supports. `idle-timer-patch.test.ts` fails on any other version. */
export const PATCHED_KAFKAJS_VERSION = '2.2.4'

interface RequestQueue {
  throttleCheckTimeoutId: NodeJS.Timeout | null
  readonly pending: readonly unknown[]
  readonly throttledUntil: number
  checkPendingRequests(): void
  scheduleCheckPendingRequests(): void
}

/** kafkajs's own delay before it checks an overloaded queue again, in milliseconds. */
const RECHECK_MS = 10

/**
 * Replaces the kafkajs 2.2.4 method that sets a timer with a negative delay while a connection is idle. Node.js changes
 * the delay to 1 ms, so each connection wakes the process about a thousand times per second
 * (https://github.com/tulios/kafkajs/issues/1556, /1704, /1751). An idle queue needs no timer, because adding a request
 * schedules the next check.
 */
export function patchKafkajs(): void {
  const queue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as { prototype: RequestQueue }
  queue.prototype.scheduleCheckPendingRequests = function scheduleOnlyWhenNeeded(this: RequestQueue) {
    if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return
    const delayMs = this.throttledUntil - Date.now()
    this.throttleCheckTimeoutId = setTimeout(
      () => {
        this.throttleCheckTimeoutId = null
        this.checkPendingRequests()
      },
      delayMs > 0 ? delayMs : RECHECK_MS,
    )
  }
}
