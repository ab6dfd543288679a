import { createRequire } from 'node:module'

/** The members of kafkajs 2.2.4's `src/consumer/consumerGroup.js` that the patch uses. */
interface ConsumerGroup {
  maxWaitTime: number
  paused(): readonly unknown[]
}

/**
 * How long the broker may keep a fetch that finds no message, in milliseconds, while no partition is paused. A new message ends the wait.
 * Longer would delay a stop and a rebalance, which kafkajs begins between two fetches.
 */
export const IDLE_FETCH_MS = 1_000

const waits = new WeakMap<ConsumerGroup, number>()

/**
 * Lets a fetch of kafkajs 2.2.4 wait `IDLE_FETCH_MS`, and only while a partition is paused the `maxWaitTimeInMs` of its consumer: a fetch in
 * flight does not include a partition that is resumed, but without a paused one a short wait only costs processor time.
 */
export function patchKafkajsFetchWait(): void {
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/consumer/consumerGroup') as {
    prototype: ConsumerGroup
  }
  Object.defineProperty(prototype, 'maxWaitTime', {
    configurable: true,
    set(this: ConsumerGroup, ms: number) {
      waits.set(this, ms)
    },
    get(this: ConsumerGroup) {
      const ms = waits.get(this) ?? 0
      return this.paused().length > 0 ? ms : Math.max(ms, IDLE_FETCH_MS)
    },
  })
}
