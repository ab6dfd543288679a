import kafkajs from 'kafkajs'
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

test('the broker accepts compressed batches, and gives them to consumers as they are', async () => {
  const stack = await testStack()
  stacks.push(stack)
  // The delay line's batches get the time of the broker, which must not undo the compression.
  await stack.createTopics(['operations', 'rechecks'], 1)
  const bus = stack.bus()
  const producer = bus.producer({ sendTimeoutMs: 5_000 })
  await producer.start()
  const got: string[] = []
  const consumer = bus.consumer({
    ...{ groupId: 'compressed', topics: ['operations', 'rechecks'], commit: 'accepted' },
    async onBatch({ messages }) {
      got.push(...messages.map(({ value }) => String(value)))
      return { accepted: messages.length }
    },
    onFatal() {},
  })
  await consumer.start()
  // After the clients, which register the codecs.
  const { GZIP } = kafkajs.CompressionTypes
  const registered = kafkajs.CompressionCodecs[GZIP]!
  const decompressed: number[] = []
  kafkajs.CompressionCodecs[GZIP] = () => ({
    ...registered(),
    decompress(bytes: Buffer) {
      decompressed.push(bytes.length)
      return registered().decompress(bytes)
    },
  })
  const value = JSON.stringify(Array.from({ length: 100 }, (_, index) => `pi_${index}`))
  await producer.send(
    (['operations', 'rechecks'] as const).map(topic => ({ topic, key: 'k', value: Buffer.from(value), headers: {} })),
  )
  await until('both arrived', () => got.length === 2)
  kafkajs.CompressionCodecs[GZIP] = registered
  await Promise.all([producer.stop(), consumer.stop()])
  expect(got).toEqual([value, value])
  expect(decompressed).toHaveLength(2)
  expect(Math.max(...decompressed)).toBeLessThan(value.length / 2)
})
