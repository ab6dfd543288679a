import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { IDLE_FETCH_MS, patchKafkajsFetchWait } from './fetch-wait-patch.ts'

const ConsumerGroup = createRequire(import.meta.url)('kafkajs/src/consumer/consumerGroup')

/** A group that has one partition, as kafkajs makes it. */
function openGroup(maxWaitTimeInMs: number) {
  patchKafkajsFetchWait()
  const logger = { namespace: () => logger, info: () => {} }
  const cluster = { addTargetTopic: () => {} }
  const group = new ConsumerGroup({ logger, cluster, topics: ['inbound'], maxWaitTimeInMs })
  group.subscriptionState.assign([{ topic: 'inbound', partitions: [0] }])
  return group
}

test('a fetch waits a second, and a quarter of one while a partition is paused', () => {
  const group = openGroup(250)
  expect(group.maxWaitTime).toBe(IDLE_FETCH_MS)
  group.pause([{ topic: 'inbound', partitions: [0] }])
  expect(group.maxWaitTime).toBe(250)
  group.resume([{ topic: 'inbound', partitions: [0] }])
  expect(group.maxWaitTime).toBe(IDLE_FETCH_MS)
})

test('a fetch of each group has the wait of its own consumer', () => {
  const [first, second] = [openGroup(250), openGroup(2_000)]
  first.pause([{ topic: 'inbound' }])
  expect([first.maxWaitTime, second.maxWaitTime]).toEqual([250, 2_000])
})
