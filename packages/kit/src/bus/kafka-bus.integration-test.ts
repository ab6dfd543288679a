import { afterAll, expect, test } from 'vitest'
import { busContract, CONTRACT_TOPICS } from '../../test/bus.contract.ts'
import { type TestStack, testStack } from '../../test/stack.ts'
import { until } from '../../test/until.ts'

const stacks: TestStack[] = []
afterAll(() => Promise.all(stacks.map(stack => stack.close())))

busContract('Kafka', async () => {
  const stack = await testStack()
  stacks.push(stack)
  await stack.createTopics(CONTRACT_TOPICS, 2)
  const { admin, topicPrefix } = stack
  return {
    bus: stack.bus(),
    committed: (groupId, topic) => admin.committed(topicPrefix + groupId, topicPrefix + topic),
  }
})

test('messages are stamped with the time that the bus was given, and on delay lines with the time of the broker', async () => {
  const stack = await testStack()
  stacks.push(stack)
  await stack.createTopics(['operations', 'rechecks'], 1)
  const now = Date.now() - 600_000
  const bus = stack.bus({ now: () => now })
  const producer = bus.producer({ sendTimeoutMs: 5_000 })
  await producer.start()
  const stamps = new Map<string, number>()
  const consumer = bus.consumer({
    ...{ groupId: 'stamps', topics: ['operations', 'rechecks'], commit: 'accepted' },
    async onBatch({ topic, messages }) {
      for (const { timestampMs } of messages) stamps.set(topic, timestampMs)
      return { accepted: messages.length }
    },
    onFatal() {},
  })
  await consumer.start()
  const message = { key: 'k', value: Buffer.from('v'), headers: {} }
  await producer.send([
    { topic: 'operations', ...message },
    { topic: 'rechecks', ...message },
  ])
  await until('both arrived', () => stamps.size === 2)
  await Promise.all([producer.stop(), consumer.stop()])
  expect(stamps.get('operations')).toBe(now)
  expect(stamps.get('rechecks')).toBeGreaterThan(now + 500_000)
})
