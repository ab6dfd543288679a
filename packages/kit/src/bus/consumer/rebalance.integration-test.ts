import type { Consumer as KafkajsConsumer } from 'kafkajs'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createCollectingLogger } from '../../../test/log-lines.ts'
import { createPlainKafkajs } from '../../../test/raw-kafkajs.ts'
import { type TestStack, testStack } from '../../../test/stack.ts'
import { until } from '../../../test/until.ts'
import type { Batch, ConsumerOptions, IncomingMessage } from '../bus.ts'

const topic = 'operations'
const PARTITIONS = 4
const KEYS = Array.from({ length: 40 }, (_, number) => `key-${number}`)

let stack: TestStack
const stacks: TestStack[] = []
const cleanUp: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  stack = await testStack()
  stacks.push(stack)
  await stack.createTopics([topic], PARTITIONS)
  const producer = stack.bus().producer({ sendTimeoutMs: 5_000 })
  await producer.start()
  await producer.send(KEYS.map(key => ({ topic, key, value: Buffer.from(key), headers: {} })))
  await producer.stop()
})
afterEach(async () => {
  for (const act of cleanUp.splice(0).reverse()) await act()
})
afterAll(() => Promise.all(stacks.map(each => each.close())))

async function join(options: Partial<ConsumerOptions> & Pick<ConsumerOptions, 'onBatch'>) {
  const lines = createCollectingLogger()
  const consumer = stack.bus({ logger: lines.logger }).consumer({
    ...{ groupId: 'group', topics: [topic], commit: 'accepted', drainTimeoutMs: 500 },
    onFatal: error => {
      throw error
    },
    ...options,
  })
  await consumer.start()
  cleanUp.push(() => consumer.stop())
  return { consumer, lines, joins: () => lines.count('consumer.joined') }
}

async function sumCommitted(groupId = 'group'): Promise<number> {
  const offsets = await stack.admin.committed(stack.topicPrefix + groupId, stack.topicPrefix + topic)
  return [...offsets.values()].reduce((sum: number, offset) => sum + Number(offset ?? 0n), 0)
}

describe('a partition that is paused while the group is formed anew', () => {
  test('stays paused for ever in plain kafkajs when its timer is gone', async () => {
    const groupId = `${stack.topicPrefix}raw`
    const open = async () => {
      const consumer: KafkajsConsumer = createPlainKafkajs(stack).consumer({
        groupId,
        maxWaitTimeInMs: 100,
        heartbeatInterval: 500,
      })
      const joins: unknown[] = []
      consumer.on(consumer.events.GROUP_JOIN, event => void joins.push(event))
      await consumer.connect()
      cleanUp.push(() => consumer.disconnect())
      await consumer.subscribe({ topics: [stack.topicPrefix + topic], fromBeginning: true })
      return { consumer, joins }
    }
    const first = await open()
    const seen = new Set<number>()
    await first.consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: async ({ batch, pause }) => {
        seen.add(batch.partition)
        pause()
      },
    })
    await until('all partitions are paused', () => seen.size === PARTITIONS)
    const second = await open()
    await second.consumer.run({ eachMessage: async () => undefined })
    await until('the group was formed anew', () => first.joins.length >= 2 && second.joins.length >= 1)
    // Pauses are kept by name: the pauses of partitions that stayed are still active, and no code would ever end them.
    expect(first.consumer.paused().flatMap(({ partitions }) => partitions).length).toBeGreaterThan(0)
  })

  test('is delivered again at once in ours, so that the handler can pause it again', async () => {
    const calls: number[] = []
    const first = await join({
      async onBatch({ partition }) {
        calls.push(partition)
        return { accepted: 0, resumeAfterMs: 3_600_000 }
      },
    })
    await until('all partitions are paused', () => new Set(calls).size === PARTITIONS)
    calls.length = 0
    const second = await join({ onBatch: async () => ({ accepted: 0, resumeAfterMs: 3_600_000 }) })
    await until('the partitions that stayed came again', () => new Set(calls).size === PARTITIONS / 2, {
      timeoutMs: 40_000,
    })
    calls.length = 0
    await second.consumer.stop()
    await until('those that came back, too', () => new Set(calls).size === PARTITIONS, { timeoutMs: 40_000 })
    expect(first.joins()).toBe(3)
  })
})

test('messages handed off from a partition that stays assigned are not delivered twice, and all are committed', async () => {
  const held: { batch: Batch; message: IncomingMessage }[] = []
  const hold: ConsumerOptions['onBatch'] = async batch => {
    held.push(...batch.messages.map(message => ({ batch, message })))
    return { accepted: batch.messages.length }
  }
  const first = await join({ commit: 'completed', onBatch: hold })
  await until('all are handed out', () => held.length === KEYS.length)
  const second: IncomingMessage[] = []
  await join({
    commit: 'completed',
    async onBatch(batch) {
      second.push(...batch.messages)
      for (const message of batch.messages) batch.complete(message)
      return { accepted: batch.messages.length }
    },
  })
  await until('the second has its share', () => first.joins() === 2 && second.length > 0, { timeoutMs: 40_000 })
  const moved = new Set(second.map(({ partition }) => partition))
  for (const { batch } of held) expect(batch.signal.aborted).toBe(moved.has(batch.partition))
  // Completes the messages of revoked partitions, too: they must not be committed under the new owner.
  for (const { batch, message } of held) batch.complete(message)
  await until('all is committed', async () => (await sumCommitted()) === KEYS.length, { timeoutMs: 40_000 })
  expect(held).toHaveLength(KEYS.length)
})

test('a batch that works longer than the session keeps its partitions and is handled once', async () => {
  const seen: string[] = []
  const { joins } = await join({
    async onBatch({ messages }) {
      seen.push(...messages.map(({ key }) => key))
      // The session of test consumers ends after 6 s without a heartbeat.
      if (seen.length === messages.length) await new Promise(resolve => setTimeout(resolve, 8_000))
      return { accepted: messages.length }
    },
  })
  await until('all is committed', async () => (await sumCommitted()) === KEYS.length, { timeoutMs: 40_000 })
  expect(joins()).toBe(1)
  expect(seen).toHaveLength(KEYS.length)
})

test('a batch in progress is interrupted by a rebalance at once, and its accepted messages are committed before', async () => {
  const handled: string[] = []
  const first = await join({
    maxBatchMessages: 1_000,
    async onBatch({ messages, signal }) {
      // A long batch that checks its signal between messages, like a work loop.
      for (const [index, { key }] of messages.entries()) {
        if (signal.aborted) return { accepted: index }
        handled.push(key)
        await new Promise(resolve => setTimeout(resolve, 400))
      }
      return { accepted: messages.length }
    },
  })
  await until('the first works', () => handled.length > 0)
  await join({
    async onBatch({ messages }) {
      handled.push(...messages.map(({ key }) => key))
      return { accepted: messages.length }
    },
  })
  await until('all is committed', async () => (await sumCommitted()) === KEYS.length, { timeoutMs: 60_000 })
  expect(first.joins()).toBe(2)
  expect(handled.toSorted()).toEqual(KEYS.toSorted())
})
