import { createKafkaBus } from '@backstop/kit/bus'
import { type TestStack, testStack, until } from '@backstop/kit/test'
import { MongoClient } from 'mongodb'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Link, openLink } from './link.ts'

let stack: TestStack
let link: Link | undefined
beforeAll(async () => {
  stack = await testStack()
  await stack.createTopics(['operations'], 1)
})
afterEach(() => link?.stop())
afterAll(() => stack.close())

describe('a link to Kafka', () => {
  const message = { topic: 'operations', key: 'key', value: Buffer.from('value'), headers: {} } as const
  const openProducer = async () => {
    link = await openLink('kafka', stack.kafkaBrokers[0]!)
    const producer = createKafkaBus({ ...stack.kafka(), brokers: [link.url], topicPrefix: stack.topicPrefix }).producer(
      {
        sendTimeoutMs: 2_000,
      },
    )
    await producer.start()
    return { link, producer }
  }
  const count = async () => (await stack.admin.progress('nobody', `${stack.topicPrefix}operations`))[0]!.end

  test('carries also the connections to the advertised address', async () => {
    const { link, producer } = await openProducer()
    await producer.send([message])
    link.disturb({ kind: 'refused' })
    link.cut()
    await expect(producer.send([message])).rejects.toThrow()
    link.heal()
    await producer.send([message])
    await producer.stop()
  })

  test('loses the answer of a write that the broker carried out, so that the producer repeats it', async () => {
    const { link, producer } = await openProducer()
    await producer.send([message])
    const before = await count()
    link.loseAnswer()
    await producer.send([message])
    expect(await count()).toBe(before + 2n)
    await producer.stop()
  })
})

describe('a link to MongoDB', () => {
  const open = async () => {
    link = await openLink('mongo', stack.mongoUrl.reveal())
    const client = new MongoClient(link.url, { serverSelectionTimeoutMS: 1_000, retryWrites: false })
    return { link, client, items: client.db(stack.dbName).collection('items') }
  }

  test('carries also the connections to the members that the replica set names', async () => {
    const { link, client, items } = await open()
    await items.insertOne({})
    link.disturb({ kind: 'refused' })
    link.cut()
    await expect(items.insertOne({})).rejects.toThrow()
    link.heal()
    await until('MongoDB to be reached again', () => items.insertOne({}))
    await client.close()
  })

  test('loses the answer of a write that the server carried out', async () => {
    const { link, client, items } = await open()
    const before = await items.countDocuments()
    link.loseAnswer()
    await expect(items.insertOne({})).rejects.toThrow()
    expect(await until('the write', async () => (await items.countDocuments()) - before)).toBe(1)
    await client.close()
  })

  test('delays requests and answers, in their order', async () => {
    const { link, client, items } = await open()
    await items.countDocuments()
    link.disturb({ kind: 'slow', delayMs: 100, bytesPerSecond: 1_000_000 })
    const startedAt = performance.now()
    await Promise.all([items.countDocuments(), items.insertOne({}), items.countDocuments()])
    expect(performance.now() - startedAt).toBeGreaterThan(190)
    await client.close()
  })
})
