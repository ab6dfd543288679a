import { createRequire } from 'node:module'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPlainKafkajs } from '../../../test/raw-kafkajs.ts'
import { type TestStack, testStack } from '../../../test/stack.ts'
import { until } from '../../../test/until.ts'
import { patchKafkajs } from './idle-timer-patch.ts'

let stack: TestStack
beforeAll(async () => {
  stack = await testStack()
  await stack.createTopics(['operations'], 1)
})
afterAll(() => stack.close())

const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue')

/** Counts how often kafkajs checks the queues of an idle producer's connections within one second. */
async function countChecksPerSecond(): Promise<number> {
  const producer = createPlainKafkajs(stack).producer()
  await producer.connect()
  await producer.send({ topic: `${stack.topicPrefix}operations`, messages: [{ value: 'x' }] })
  const original = RequestQueue.prototype.checkPendingRequests
  let looks = 0
  RequestQueue.prototype.checkPendingRequests = function counted(...args: unknown[]) {
    looks += 1
    return original.apply(this, args)
  }
  const startedAt = performance.now()
  await until('a second has passed', () => performance.now() - startedAt > 1_000, { everyMs: 100 })
  RequestQueue.prototype.checkPendingRequests = original
  await producer.disconnect()
  return looks
}

test('an idle connection of kafkajs wakes the process hundreds of times a second, and not once with our patch', async () => {
  const patched = RequestQueue.prototype.scheduleCheckPendingRequests
  // The test stack's admin client has applied the patch: restore the relevant part of the original method.
  RequestQueue.prototype.scheduleCheckPendingRequests = function unpatched() {
    if (this.throttleCheckTimeoutId) return
    this.throttleCheckTimeoutId = setTimeout(() => {
      this.throttleCheckTimeoutId = null
      this.checkPendingRequests()
    }, this.throttledUntil - Date.now())
  }
  expect(await countChecksPerSecond()).toBeGreaterThan(100)
  RequestQueue.prototype.scheduleCheckPendingRequests = patched
  patchKafkajs()
  expect(await countChecksPerSecond()).toBeLessThan(10)
})
