import { connect } from 'node:net'
import { Kafka, logLevel } from 'kafkajs'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunningStack } from '../src/index.ts'
import { pollUntil } from '../src/poll.ts'
import { createCleanup } from './stack-under-test.ts'

const cleanup = createCleanup()
let stack: RunningStack

beforeAll(async () => {
  stack = await cleanup.start(cleanup.dataDir())
})

afterAll(async () => {
  await stack?.stop()
  await cleanup.all()
})

const kafkaClient = () => new Kafka({ brokers: [stack.urls.kafka], logLevel: logLevel.NOTHING, clientId: 'stack-test' })

async function produce(topic: string, value: string, retries = 5): Promise<void> {
  const producer = kafkaClient().producer({ retry: { retries } })
  await producer.connect()
  await producer.send({ topic, acks: -1, messages: [{ value }] })
  await producer.disconnect()
}

/** Returns the number of messages. A broker that just started has no leader for some time, which kafkajs does not retry here. */
async function countMessages(topic: string): Promise<number | undefined> {
  const admin = kafkaClient().admin()
  await admin.connect()
  const count = async () => {
    const offsets = await admin.fetchTopicOffsets(topic)
    return offsets.reduce((sum, { high }) => sum + Number(high), 0)
  }
  try {
    return await pollUntil(() => count().catch(() => undefined), { timeoutMs: 20_000, everyMs: 200 })
  } finally {
    await admin.disconnect()
  }
}

async function answers(url: string): Promise<boolean> {
  const [host = '', port = ''] = url.split(':')
  return new Promise(resolve => {
    const socket = connect(Number(port), host)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

test('Kafka keeps its messages and its port when it is killed and started again', async () => {
  // Another topic if the test is repeated.
  const kept = `kept-${Date.now()}`
  const admin = kafkaClient().admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic: kept, numPartitions: 3, replicationFactor: 1 }] })
  await admin.disconnect()
  await produce(kept, 'before the kill')
  const { pid } = stack.parts.kafka
  stack.parts.kafka.kill('SIGKILL')
  await pollUntil(async () => ((await answers(stack.urls.kafka)) ? undefined : true), { timeoutMs: 10_000 })
  await stack.parts.kafka.restart()
  expect(stack.parts.kafka.pid).not.toBe(pid)
  expect(await countMessages(kept)).toBe(1)
  await produce(kept, 'after the kill')
  expect(await countMessages(kept)).toBe(2)
})

test('Kafka refuses a topic that nobody made and takes a message of two megabytes', async () => {
  await expect(produce('never-made', 'x', 0)).rejects.toThrow()
  const admin = kafkaClient().admin()
  await admin.connect()
  await admin.createTopics({
    topics: [
      { topic: 'large', replicationFactor: 1, configEntries: [{ name: 'max.message.bytes', value: '2200000' }] },
    ],
  })
  await admin.disconnect()
  await produce('large', 'x'.repeat(2 * 1024 * 1024))
  expect(await countMessages('large')).toBe(1)
})

test('MongoDB has transactions and change streams, and keeps what was written through a kill', async () => {
  const client = await new MongoClient(stack.urls.mongo, { serverSelectionTimeoutMS: 20_000 }).connect()
  try {
    const things = client.db('stack-test').collection('things')
    const changes = things.watch()
    const seen = changes.next()
    await client.withSession(session =>
      session.withTransaction(
        async () => void (await things.insertOne({ n: 1 }, { session, writeConcern: { w: 'majority', j: true } })),
      ),
    )
    expect(await seen).toMatchObject({ operationType: 'insert', fullDocument: { n: 1 } })
    await changes.close()

    stack.parts.mongo.kill('SIGKILL')
    await stack.parts.mongo.restart()
    expect(await things.countDocuments()).toBe(1)
    await things.insertOne({ n: 2 })
  } finally {
    await client.close()
  }
})

test('the registry gives a schema the same id after a kill', async () => {
  // Without a property or a $schema the registry does not recognise a JSON Schema.
  const schema = '{"type":"object","properties":{"a":{"type":"string"}}}'
  const register = async () => {
    const response = await fetch(`${stack.urls.registry}/subjects/kept-value/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
      body: JSON.stringify({ schemaType: 'JSON', schema }),
    })
    return ((await response.json()) as { id: number }).id
  }
  const id = await register()
  expect(id).toBeGreaterThan(0)
  stack.parts.registry.kill('SIGKILL')
  await stack.parts.registry.restart()
  const known = await fetch(`${stack.urls.registry}/schemas/ids/${id}`)
  expect(await known.json()).toMatchObject({ schema })
  expect(await register()).toBe(id)
})

test('a mail that is sent is shown on the page', async () => {
  const { port } = new URL(stack.urls.smtp)
  const socket = connect(Number(port), '127.0.0.1')
  const mail = 'Subject: It works\r\nFrom: a@example.com\r\nTo: b@example.com\r\n\r\nHello'
  const lines = ['EHLO test', 'MAIL FROM:<a@example.com>', 'RCPT TO:<b@example.com>', 'DATA', `${mail}\r\n.`, 'QUIT']
  // Sends one line per answer. A multi-line answer ends with the line that has a space after its code.
  socket.setEncoding('utf8').on('data', (answer: string) => {
    if (/^\d{3} /m.test(answer)) socket.write(`${lines.shift() ?? ''}\r\n`)
  })
  const shown = await pollUntil(
    async () => {
      const mails = (await (await fetch(`${stack.urls.mail}/api/email`)).json()) as { subject: string }[]
      return mails.length > 0 ? mails : undefined
    },
    { timeoutMs: 10_000 },
  )
  socket.destroy()
  expect(shown).toMatchObject([{ subject: 'It works' }])
  const page = await fetch(stack.urls.mail, { headers: { accept: 'text/html' } })
  expect(await page.text()).toContain('<!doctype html>')
})

test('the stack runs beside the stack of the test run, on other ports', async () => {
  const { BACKSTOP_TEST_KAFKA: otherKafka = '', BACKSTOP_TEST_MAIL, ...rest } = process.env
  const others = [
    otherKafka,
    BACKSTOP_TEST_MAIL,
    rest.BACKSTOP_TEST_MONGO,
    rest.BACKSTOP_TEST_REGISTRY,
    rest.BACKSTOP_TEST_SMTP,
  ]
  expect(new Set([...Object.values(stack.urls), ...others]).size).toBe(10)
  expect(await answers(otherKafka)).toBe(true)
  expect(await answers(stack.urls.kafka)).toBe(true)
})
