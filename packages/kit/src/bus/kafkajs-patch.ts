import { createRequire } from 'node:module'

/** The one version whose insides the patch below knows; `kafkajs-patch.test.ts` fails on any other. */
export const PATCHED_KAFKAJS_VERSION = '2.2.4'

interface RequestQueue {
  throttleCheckTimeoutId: NodeJS.Timeout | null
  readonly pending: readonly unknown[]
  readonly throttledUntil: number
  checkPendingRequests(): void
  scheduleCheckPendingRequests(): void
}

/** How long kafkajs itself waits before it looks at an overloaded queue again, in milliseconds. */
const RECHECK_MS = 10

/**
 * Replaces the method of kafkajs 2.2.4 that asks for a timer with a negative delay whenever a connection is idle: Node
 * makes 1 ms of it, so that every connection wakes the process about a thousand times a second, for ever
 * (https://github.com/tulios/kafkajs/issues/1556, /1704, /1751). An idle queue needs no timer at all: what fills it
 * schedules the next look by itself.
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
