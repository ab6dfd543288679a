/** Expected changes on real Kafka and MongoDB, with two concurrent reconcilers. */
import type { Command, ConnectionDocument, ExpectedChangeDocument, InboundEvent } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import { systemClock } from '@backstop/kit/clock'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { createMetrics } from '@backstop/kit/ops'
import { createFixedCodec, type TestStack, testStack, until } from '@backstop/kit/test'
import { openMongoBooks } from '@backstop/ledger'
import { expectedChangeDocument, PROJECT } from '@backstop/verdict/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../src/app.ts'
import { openStores } from '../src/stores.ts'
import { connectionOf } from './connection-of.ts'
import { createIndexes } from './create-indexes.ts'
import { readingPorts, TEST_SETTINGS } from './reading-ports.ts'

const WITHIN = { timeoutMs: 60_000 }
const codec = createFixedCodec()
const stops: (() => Promise<void>)[] = []
let stack: TestStack
let mongo: Mongo
let producer: Producer

beforeAll(async () => {
  stack = await testStack()
  const inbound = ['inbound.processor', 'inbound.reseller', 'inbound.subscription', 'inbound.dead'] as const
  const own = ['operations', 'rechecks', 'rechecks.due', 'rereads', 'rereads.retry', 'readbacks', 'commands'] as const
  await stack.createTopics([...inbound, ...own, 'incidents', 'alerts'], 4)
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'test' })
  await createIndexes(mongo.db)
  const created_at = new Date(Date.now() - 60_000)
  await mongo.db.collection<ConnectionDocument>('connections').insertOne(connectionOf('con_a', { created_at }))
  producer = stack.bus().producer({ sendTimeoutMs: 10_000 })
  await producer.start()
  for (const leaseHolder of ['one', 'two']) {
    const app = createApp(
      {
        bus: stack.bus(),
        codec,
        clock: systemClock,
        stores: openStores(mongo),
        openBooks: options => openMongoBooks(mongo.db, options),
        logger: stack.logger,
        metrics: createMetrics('reconciler'),
        ...readingPorts(stack.logger),
        onFatal: error => stack.logger.fatal({ error }, 'fatal'),
      },
      { ...TEST_SETTINGS, recheckDelayMs: 1_000, leaseHolder },
    )
    await app.start()
    stops.push(() => app.stop())
  }
})

afterAll(async () => {
  for (const stop of stops) await stop()
  await producer?.stop()
  await mongo?.stop()
  await stack?.close()
})

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`)

/** Unexplained refunds, each of a different payment. */
async function refund(about: readonly string[]): Promise<void> {
  const created = Math.floor(Date.now() / 1000)
  await producer.send(
    about.map(name => {
      const object = {
        id: `re_${name}`,
        object: 'refund',
        amount: 1_000,
        currency: 'eur',
        payment_intent: `pi_${name}`,
      }
      const event: InboundEvent = {
        provider: 'processor',
        project_id: PROJECT,
        connection_id: 'con_a',
        event_id: `evt_${name}`,
        event_type: 'refund.created',
        received_at: new Date().toISOString(),
        body: {
          id: `evt_${name}`,
          object: 'event',
          created,
          data: { object: { ...object, created, status: 'succeeded' } },
        },
      }
      const value = codec.encode('inbound-event', event)
      return { topic: 'inbound.processor' as const, key: `${PROJECT}/pi_${name}`, value, headers: {} }
    }),
  )
}

/** Creates an expected change, as admin-api does. */
async function expectedChange(id: string, more: Partial<ExpectedChangeDocument>): Promise<void> {
  const times = { created_at: new Date(), expires_at: new Date(Date.now() + 3_600_000) }
  await mongo.db
    .collection<ExpectedChangeDocument>('expected_changes')
    .insertOne(expectedChangeDocument(id, { ...times, ...more }))
  const command: Command = {
    kind: 'apply_expected_change',
    command_id: `cmd_${id}`,
    project_id: PROJECT,
    requested_at: new Date().toISOString(),
    expected_change_id: id,
  }
  await producer.send([{ topic: 'commands', key: id, value: codec.encode('command', command), headers: {} }])
}

/** The number of these actions with this verdict. */
const judged = (prefix: string, verdict: string) =>
  mongo.db.collection('actions').countDocuments({ subject: { $regex: `^pi_${prefix}` }, verdict })
const usesOf = async (id: string) =>
  (await mongo.db.collection<{ _id: string; uses: object[] }>('expected_change_uses').findOne({ _id: id }))?.uses.length

test('two concurrent reconcilers with forty payments cover as many as the expected change allows', async () => {
  await expectedChange('exp_before', { max_changes: 7 })
  await refund(names('before', 40))
  const isOver = async () => (await judged('before', 'unexplained')) + (await judged('before', 'explained')) === 40
  await until('all verdicts', isOver, WITHIN)
  expect(await judged('before', 'explained')).toBe(7)
  expect(await usesOf('exp_before')).toBe(7)
})

test('a new expected change resolves as many open incidents as it covers, and the others stay open', async () => {
  await refund(names('after', 12))
  await until('the incidents', async () => (await judged('after', 'unexplained')) === 12, WITHIN)
  await expectedChange('exp_after', { max_changes: 9, max_amount: 5_500, currency: 'eur' })
  await until('what it covers', async () => (await judged('after', 'explained')) === 5, WITHIN)
  expect(await usesOf('exp_after')).toBe(5)
  const resolved = { state: 'resolved', code: 'UNEXPECTED_ACTION' }
  // The incident of an action is written after the action.
  await until(
    'its incidents',
    async () => (await mongo.db.collection('incidents').countDocuments(resolved)) === 5,
    WITHIN,
  )
  expect(await mongo.db.collection('incidents').countDocuments({ state: 'resolved' })).toBe(5)
})
