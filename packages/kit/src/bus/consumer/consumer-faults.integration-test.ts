import kafkajs, { type Consumer as KafkajsConsumer } from 'kafkajs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createCollectingLogger } from '../../../test/log-lines.ts'
import { createPlainKafkajs } from '../../../test/raw-kafkajs.ts'
import { type TestStack, testStack } from '../../../test/stack.ts'
import { until } from '../../../test/until.ts'
import type { ConsumerOptions, IncomingMessage, OutgoingMessage } from '../bus.ts'

let stack: TestStack
const cleanUp: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  stack = await testStack()
})
afterAll(() => stack.close())
afterEach(async () => {
  for (const act of cleanUp.splice(0).reverse()) await act()
})

const topic = 'operations'
const brokerTopic = () => stack.topicPrefix + topic

/** Creates a new topic with these messages. `partitions` keys are spread over as many partitions. */
async function createTopicWith(partitions: number, keys: readonly string[]) {
  await stack.createTopics([topic], partitions)
  cleanUp.push(async () => {
    await stack.admin.delete([brokerTopic()])
    await until('the topic is gone', async () => (await stack.admin.describe([brokerTopic()])).length === 0)
  })
  const producer = stack.bus().producer({ sendTimeoutMs: 5_000 })
  await producer.start()
  cleanUp.push(() => producer.stop())
  const send = (...of: readonly string[]) => producer.send(of.map(key => message(key)))
  await send(...keys)
  return { send }
}

function message(key: string): OutgoingMessage {
  return { topic, key, value: Buffer.from(key), headers: {} }
}

/** Each test has its own group, because the broker keeps a deleted topic's offsets for a while. */
let groups = 0
let currentGroup = ''
beforeEach(() => {
  groups += 1
  currentGroup = `group-${groups}`
})

/** Starts a consumer of the bus. `lines` contains its log lines. */
async function consume(options: Partial<ConsumerOptions> & Pick<ConsumerOptions, 'onBatch'>, groupId = currentGroup) {
  const lines = createCollectingLogger()
  const fatal: unknown[] = []
  const consumer = stack.bus({ logger: lines.logger, metadataMaxAgeMs: 1_000 }).consumer({
    ...{ groupId, topics: [topic], commit: 'accepted' },
    onFatal: error => void fatal.push(error),
    ...options,
  })
  await consumer.start()
  cleanUp.push(() => consumer.stop())
  return { consumer, lines, fatal }
}

function collect(into: IncomingMessage[]): ConsumerOptions['onBatch'] {
  return async ({ messages }) => {
    into.push(...messages)
    return { accepted: messages.length }
  }
}

/** Starts a plain kafkajs consumer and records its crashes. `retries` is kafkajs's own option. */
async function rawConsumer(groupId: string, fromBeginning: boolean, retries = 5) {
  const consumer: KafkajsConsumer = createPlainKafkajs(stack).consumer({
    groupId: stack.topicPrefix + groupId,
    retry: { retries, initialRetryTime: 10, restartOnFailure: async () => false },
  })
  const crashes: { restart: boolean }[] = []
  const joins: unknown[] = []
  consumer.on(consumer.events.CRASH, ({ payload }) => void crashes.push(payload))
  consumer.on(consumer.events.GROUP_JOIN, event => void joins.push(event))
  await consumer.connect()
  await consumer.subscribe({ topics: [brokerTopic()], fromBeginning })
  cleanUp.push(() => consumer.disconnect())
  return { consumer, crashes, joins }
}

describe('a handler that throws a TypeError', () => {
  test('ends a plain kafkajs consumer for good, without a restart', async () => {
    await createTopicWith(1, ['a'])
    const { consumer, crashes } = await rawConsumer('raw-type-error', true)
    const run = consumer.run({
      eachMessage: async () => {
        throw new TypeError('as JSON.parse would throw a SyntaxError')
      },
    })
    await run
    await until('it crashed', () => crashes.length > 0)
    expect(crashes[0]).toMatchObject({ restart: false })
  })

  test('only defers our batch: the same message is delivered again, and the next ones, too', async () => {
    const { send } = await createTopicWith(1, ['a'])
    const got: IncomingMessage[] = []
    let faults = 0
    const { lines, fatal } = await consume({
      async onBatch(batch) {
        faults += 1
        if (faults === 1) throw new TypeError('a fault of ours')
        return collect(got)(batch)
      },
    })
    await until('it came again', () => got.length === 1)
    await send('b')
    await until('the next came', () => got.length === 2)
    expect(fatal).toEqual([])
    expect(lines.count('consumer.joined')).toBe(1)
  })
})

describe('faults over the life of a process, with successes in between', () => {
  test('add up in a plain kafkajs consumer until it crashes', async () => {
    await createTopicWith(1, [...'abcdefgh'])
    const { consumer, crashes } = await rawConsumer('raw-counter', true, 2)
    let handled = 0
    let faults = 0
    await consumer.run({
      eachMessage: async () => {
        // Every second call fails once and then succeeds.
        if (faults <= handled) {
          faults += 1
          throw new Error('passing')
        }
        handled += 1
      },
    })
    await until('it crashed', () => crashes.length > 0)
    expect(faults).toBe(3)
    expect(handled).toBeGreaterThanOrEqual(1)
  })

  test('never do in ours: twenty faults end nothing and lose nothing', async () => {
    const keys = Array.from({ length: 40 }, (_, number) => `key-${number}`)
    await createTopicWith(4, keys)
    const failed = new Set<string>()
    const got: IncomingMessage[] = []
    const { lines, fatal } = await consume({
      maxBatchMessages: 1,
      async onBatch(batch) {
        const { key } = batch.messages[0]!
        if (failed.size < 20 && !failed.has(key)) {
          failed.add(key)
          throw new Error('passing')
        }
        return collect(got)(batch)
      },
    })
    await until('all came', () => got.length === keys.length, { timeoutMs: 50_000 })
    expect(failed.size).toBe(20)
    expect(new Set(got.map(({ key }) => key)).size).toBe(keys.length)
    expect(fatal).toEqual([])
    expect(lines.count('consumer.joined')).toBe(1)
  })
})

describe('where a group begins that has committed nothing', () => {
  test('a plain kafkajs consumer skips what is there', async () => {
    const { send } = await createTopicWith(1, ['before'])
    const { consumer, joins } = await rawConsumer('raw-new', false)
    const got: string[] = []
    await consumer.run({ eachMessage: async ({ message: { key } }) => void got.push(String(key)) })
    await until('it joined', () => joins.length > 0)
    // kafkajs looks up the end of the topic at the first fetch, so one message may still be before it.
    await until('it reads', async () => {
      await send('after')
      return got.length > 0
    })
    expect(got).not.toContain('before')
  })

  test('ours begins at the first message, also on a partition that was added later', async () => {
    const { send } = await createTopicWith(1, ['a'])
    const got: IncomingMessage[] = []
    await consume({ onBatch: collect(got) })
    await until('the first came', () => got.length === 1)
    await stack.admin.addPartitions(brokerTopic(), 4)
    const keys = Array.from({ length: 40 }, (_, number) => `key-${number}`)
    await until(
      'the producer sees them',
      async () => (await stack.admin.describe([brokerTopic()]))[0]?.partitions === 4,
    )
    const late = stack.bus().producer({ sendTimeoutMs: 5_000 })
    await late.start()
    await late.send(keys.map(message))
    await late.stop()
    await send('z')
    // New partitions are found at the next metadata refresh, and a busy broker needs time to lead them.
    // A send that is repeated, because a new partition had no leader yet, writes its messages again.
    const came = () => new Set(got.map(({ key }) => key)).size
    await until('all came', () => came() === 42, { timeoutMs: 60_000, seen: () => [came(), got.length] })
    expect(new Set(got.map(({ partition }) => partition)).size).toBe(4)
  })

  test('ours goes to the earliest message that is left when its own place was deleted', async () => {
    await createTopicWith(1, [...'abcdefgh'])
    const before: IncomingMessage[] = []
    const first = await consume({
      maxBatchMessages: 2,
      async onBatch(batch) {
        return before.length > 0 ? { accepted: 0, resumeAfterMs: 60_000 } : collect(before)(batch)
      },
    })
    await until('two were taken', () => before.length === 2)
    await first.consumer.stop()
    const admin = createPlainKafkajs(stack).admin()
    await admin.connect()
    await admin.fetchTopicMetadata({ topics: [brokerTopic()] })
    await admin.deleteTopicRecords({ topic: brokerTopic(), partitions: [{ partition: 0, offset: '5' }] })
    await admin.disconnect()
    const after: IncomingMessage[] = []
    await consume({ onBatch: collect(after) })
    await until('the rest came', () => after.length === 3)
    expect(after.map(({ key }) => key)).toEqual(['f', 'g', 'h'])
  })
})

test('messages compressed with gzip or zstd are read', async () => {
  await createTopicWith(1, ['plain'])
  const raw = createPlainKafkajs(stack).producer()
  await raw.connect()
  for (const compression of [kafkajs.CompressionTypes.GZIP, kafkajs.CompressionTypes.ZSTD]) {
    await raw.send({
      topic: brokerTopic(),
      compression,
      messages: [{ key: `type-${compression}`, value: 'x'.repeat(1_000) }],
    })
  }
  await raw.disconnect()
  const got: IncomingMessage[] = []
  const { fatal } = await consume({ onBatch: collect(got) })
  await until('all came', () => got.length === 3)
  expect(got.map(({ key }) => key)).toEqual(['plain', 'type-1', 'type-4'])
  expect(fatal).toEqual([])
})

test('a consumer that starts before its topic exists waits for it', async () => {
  const got: IncomingMessage[] = []
  const { consumer, lines, fatal } = await consume({ onBatch: collect(got) }, 'early')
  await until('it tried', () => lines.count('consumer.rebuilt') >= 2)
  expect(consumer.msSinceProgress()).toBeLessThan(5_000)
  await createTopicWith(1, ['a'])
  await until('the message came', () => got.length === 1)
  expect(fatal).toEqual([])
})

test('a permanent fault is fatal and reported once', async () => {
  await createTopicWith(1, ['a'])
  // A member that assigns partitions by another protocol: the broker accepts only one protocol per group.
  const foreign = createPlainKafkajs(stack).consumer({
    groupId: `${stack.topicPrefix}mixed`,
    maxWaitTimeInMs: 100,
    partitionAssigners: [
      context => {
        const roundRobin = kafkajs.PartitionAssigners.roundRobin(context)
        const protocol: typeof roundRobin.protocol = topics => ({ ...roundRobin.protocol(topics), name: 'Foreign' })
        return { ...roundRobin, name: 'Foreign', protocol }
      },
    ],
  })
  let joined = false
  foreign.on(foreign.events.GROUP_JOIN, () => {
    joined = true
  })
  await foreign.connect()
  cleanUp.push(() => foreign.disconnect())
  await foreign.subscribe({ topics: [brokerTopic()], fromBeginning: true })
  await foreign.run({ eachMessage: async () => undefined })
  await until('the other member is there', () => joined)
  const { fatal, lines } = await consume({ onBatch: collect([]) }, 'mixed')
  await until('it is told', () => fatal.length > 0)
  expect(fatal).toHaveLength(1)
  expect(lines.count('consumer.failed')).toBe(1)
})
