/** New events while two reconcilers have a backlog, on real Kafka and MongoDB. */
import type { ConnectionDocument, InboundEvent } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import { systemClock } from '@backstop/kit/clock'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { createMetrics, type Metrics } from '@backstop/kit/ops'
import { createFixedCodec, readAll, type TestStack, testStack, until } from '@backstop/kit/test'
import { openMongoBooks } from '@backstop/ledger'
import { PROJECT } from '@backstop/verdict/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../src/app.ts'
import { openStores } from '../src/stores.ts'
import { connectionOf } from './connection-of.ts'
import { createIndexes } from './create-indexes.ts'
import { readingPorts, TEST_SETTINGS } from './reading-ports.ts'

const WITHIN = { timeoutMs: 60_000 }
const PARTITIONS = 4
/** Of the three topics of events. */
const LANE_PARTITIONS = 3 * PARTITIONS
/** Several batches for each partition. */
const IGNORED_IN_BACKLOG = 12_000
const codec = createFixedCodec()
const stops: (() => Promise<void>)[] = []
/** Holds the batches of the backlog, after the first one of each process, until the test opens it. */
const gate = Promise.withResolvers<void>()
const pages: Metrics[] = []
let stack: TestStack
let mongo: Mongo

beforeAll(async () => {
  stack = await testStack()
  const inbound = ['inbound.processor', 'inbound.reseller', 'inbound.subscription', 'inbound.dead'] as const
  const own = ['operations', 'rechecks', 'rechecks.due', 'rereads', 'rereads.retry', 'readbacks', 'commands'] as const
  await stack.createTopics([...inbound, ...own, 'rechecks.unanswered', 'incidents', 'alerts'], PARTITIONS)
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'test' })
  await createIndexes(mongo.db)
  const created_at = new Date(Date.now() - 3_600_000)
  const connection = connectionOf('con_a', { created_at, burst_alarm: false })
  await mongo.db.collection<ConnectionDocument>('connections').insertOne(connection)
})
afterAll(async () => {
  gate.resolve()
  for (const stop of stops.reverse()) await stop()
  await mongo?.stop()
  await stack?.close()
})

async function startReconciler(leaseHolder: string): Promise<void> {
  const stores = openStores(mongo)
  const metrics = createMetrics('reconciler')
  pages.push(metrics)
  let batches = 0
  const done = async (ids: readonly string[]) => {
    if (ids.some(id => id.includes('ignored'))) batches += 1
    if (batches > 1 && ids.some(id => id.includes('ignored'))) await gate.promise
    return stores.inbox.done(ids)
  }
  const app = createApp(
    {
      bus: stack.bus({ metrics }),
      codec,
      clock: systemClock,
      stores: { ...stores, inbox: { ...stores.inbox, done } },
      openBooks: options => openMongoBooks(mongo.db, options),
      logger: stack.logger,
      metrics,
      ...readingPorts(stack.logger),
      onFatal: error => stack.logger.fatal({ error }, 'fatal'),
    },
    { ...TEST_SETTINGS, recheckDelayMs: 1_000, leaseHolder },
  )
  await app.start()
  stops.push(() => app.stop())
}

/** A producer whose messages are this old. */
async function openProducer(ageMs: number): Promise<Producer> {
  const producer = stack.bus({ now: () => Date.now() - ageMs }).producer({ sendTimeoutMs: 30_000 })
  await producer.start()
  stops.push(() => producer.stop())
  return producer
}

function messageOf(name: string, event_type: string, object: object) {
  const created = Math.floor(Date.now() / 1_000)
  const event: InboundEvent = {
    provider: 'processor',
    project_id: PROJECT,
    connection_id: 'con_a',
    event_id: `evt_${name}`,
    event_type,
    received_at: new Date().toISOString(),
    body: { id: `evt_${name}`, object: 'event', created, data: { object: { ...object, created } } },
  }
  const value = codec.encode('inbound-event', event)
  return { topic: 'inbound.processor' as const, key: `${PROJECT}/pi_${name}`, value, headers: {} }
}

function refundOf(name: string) {
  const ids = { id: `re_${name}`, payment_intent: `pi_${name}` }
  const object = { ...ids, object: 'refund', amount: 1_000, currency: 'eur', status: 'succeeded' }
  return messageOf(name, 'refund.created', object)
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`)
const count = (collection: string, filter: object) => mongo.db.collection(collection).countDocuments(filter)
const readEvents = (some: readonly string[]) => count('inbox', { event_id: { $in: some.map(name => `evt_${name}`) } })

/** The partitions that the processes read in their lanes. */
async function lanePartitions(): Promise<number> {
  const texts = await Promise.all(pages.map(page => page.text()))
  const line = /^kafka_partitions_assigned\{.*group="reconciler\.new-events".*\} (\d+)$/m
  return texts.reduce((sum, text) => sum + Number(line.exec(text)?.[1] ?? 0), 0)
}

/** The events that the consumer of all events has processed. */
async function committed(): Promise<number> {
  const offsets = await stack.admin.committed(`${stack.topicPrefix}reconciler`, `${stack.topicPrefix}inbound.processor`)
  return [...offsets.values()].reduce((sum: number, offset) => sum + Number(offset ?? 0n), 0)
}

test('two reconcilers judge new events before their backlog, and every event once', async () => {
  const old = await openProducer(600_000)
  const present = await openProducer(0)
  const ignored = names('ignored', IGNORED_IN_BACKLOG)
  await old.send(ignored.map(name => messageOf(name, 'customer.updated', { id: `cus_${name}`, object: 'customer' })))
  const oldRefunds = names('old', 20)
  await old.send(oldRefunds.map(refundOf))
  for (const name of ['one', 'two']) await startReconciler(name)
  await until('the lanes to be open', async () => (await lanePartitions()) === LANE_PARTITIONS, WITHIN)

  const newRefunds = names('new', 40)
  await present.send(newRefunds.map(refundOf))
  await until('the new events', async () => (await readEvents(newRefunds)) === newRefunds.length, WITHIN)
  expect(await count('actions', { subject: { $regex: '^pi_new' }, verdict: 'pending' })).toBe(newRefunds.length)
  expect(await readEvents(oldRefunds)).toBe(0)
  expect(await committed()).toBeLessThan(IGNORED_IN_BACKLOG / 2)

  gate.resolve()
  const refunds = [...oldRefunds, ...newRefunds]
  const total = IGNORED_IN_BACKLOG + refunds.length
  await until('the backlog to be processed', async () => (await committed()) === total, WITHIN)
  await until('the incidents', async () => (await count('incidents', { state: 'open' })) === refunds.length, WITHIN)
  expect(await count('inbox', {})).toBe(total)
  expect(await count('actions', { verdict: 'unexplained' })).toBe(refunds.length)
  expect(await count('actions', {})).toBe(refunds.length)
  expect(await count('incidents', {})).toBe(refunds.length)
  await until('the lanes to be closed', async () => (await lanePartitions()) === 0, WITHIN)
  const alerts = await readAll(stack, 'alerts', ({ length }) => length >= refunds.length)
  const opened = await Promise.all(alerts.map(({ value }) => codec.decode('alert', value)))
  expect(new Set(opened.map(({ alert_id }) => alert_id)).size).toBe(refunds.length)
  expect(new Set(opened.map(({ event }) => event))).toEqual(new Set(['incident.opened']))
})
