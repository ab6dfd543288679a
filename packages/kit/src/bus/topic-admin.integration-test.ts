import { afterAll, beforeAll, expect, test } from 'vitest'
import { type KafkaProxy, startKafkaProxy } from '../../test/kafka-proxy.ts'
import { type TestStack, testStack } from '../../test/stack.ts'
import { until } from '../../test/until.ts'
import { createTopicAdmin, type TopicAdmin } from './topic-admin.ts'

let stack: TestStack
let proxy: KafkaProxy
let admin: TopicAdmin
beforeAll(async () => {
  stack = await testStack()
  proxy = await startKafkaProxy(stack.kafkaBrokers[0]!)
  admin = createTopicAdmin(stack.kafka({ translateAddress: () => proxy.address }))
})
afterAll(async () => {
  await admin?.stop()
  await proxy?.stop()
  await stack?.close()
})

test('calls are unavailable while the broker refuses connections, and may be repeated afterwards', async () => {
  const name = `${stack.topicPrefix}incidents`
  const topic = { name, partitions: 1, replication: 1, config: {} }
  await admin.connect()
  proxy.mode = 'refuse'
  proxy.cutAll()
  const calls = [
    () => admin.describe([name]),
    () => admin.create([topic]),
    () => admin.addPartitions(name, 2),
    () => admin.committed('reconciler', name),
    () => admin.delete([name]),
  ]
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'unavailable', retryable: true })
  proxy.mode = 'pass'
  await until('the topic', () => admin.create([topic]).then(() => true))
  await admin.create([topic])
  expect(await admin.describe([name])).toMatchObject([{ name, partitions: 1 }])
  await admin.delete([name])
})
