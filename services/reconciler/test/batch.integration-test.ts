import type { ConnectionDocument, InboundEvent, OperationDocument } from '@backstop/contracts'
import { systemClock } from '@backstop/kit/clock'
import type { Mongo } from '@backstop/kit/mongo'
import { createOutboxPublisher } from '@backstop/kit/outbox'
import { createFixedCodec, createMemoryBus, type TestStack, testStack } from '@backstop/kit/test'
import { openMongoBooks } from '@backstop/ledger'
import { operation, PROJECT, T0 } from '@backstop/verdict/test'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import { openStores } from '../src/stores.ts'
import { connectionOf } from './connection-of.ts'
import { createIndexes } from './create-indexes.ts'

let stack: TestStack
let client: MongoClient
let mongo: Mongo
const commands: string[] = []

beforeAll(async () => {
  stack = await testStack()
  client = new MongoClient(stack.mongoUrl.reveal(), { monitorCommands: true })
  const db = client.db(stack.dbName)
  mongo = { client, db, ping: async () => {}, stop: () => client.close() }
  await createIndexes(db)
  client.on('commandStarted', ({ commandName, command }) => commands.push(`${commandName} ${command[commandName]}`))
})

afterAll(async () => {
  await client?.close()
  await stack?.close()
})

beforeEach(async () => {
  for (const { name } of await mongo.db.listCollections().toArray()) await mongo.db.collection(name).deleteMany({})
  await mongo.db.collection<ConnectionDocument>('connections').insertOne(connectionOf('con_a', {}))
  commands.length = 0
})

/** The parts of a reconciler process on the shared database. It has its own bus. */
function parts(): ReconcileParts {
  const stores = openStores(mongo)
  const codec = createFixedCodec()
  const producer = createMemoryBus({ clock: systemClock }).producer({ sendTimeoutMs: 1_000 })
  const publisher = createOutboxPublisher({
    source: stores.cases.outbox,
    producer,
    encoder: codec,
    logger: stack.logger,
  })
  const { ledger } = openMongoBooks(mongo.db, { announce: () => {} })
  return {
    stores,
    ledger,
    publisher,
    producer,
    codec,
    clock: { ...systemClock, now: () => T0 },
    rules: { recheckDelayMs: 60_000 },
  }
}

function refundEvent(id: string, more: { connectionId?: string; paymentIntent?: string | null } = {}): WorkItem {
  const connectionId = more.connectionId ?? 'con_a'
  const eventId = `evt_${id}_${connectionId}`
  const paymentIntent = more.paymentIntent === undefined ? `pi_${id}` : more.paymentIntent
  const event: InboundEvent = {
    provider: 'processor',
    project_id: PROJECT,
    connection_id: connectionId,
    event_id: eventId,
    event_type: 'refund.created',
    received_at: new Date(T0).toISOString(),
    body: {
      id: eventId,
      object: 'event',
      type: 'refund.created',
      created: T0 / 1000,
      livemode: true,
      data: {
        object: {
          id: `re_${id}`,
          object: 'refund',
          amount: 2499,
          currency: 'eur',
          charge: `ch_${id}`,
          payment_intent: paymentIntent,
          created: T0 / 1000,
          status: 'succeeded',
        },
      },
    },
  }
  return { kind: 'event', event, inboxId: `${connectionId}/${eventId}`, receivedAt: T0 }
}

const names = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => `${prefix}${index}`)

/** The number of MongoDB commands, by command name and collection. */
function commandCounts(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const command of commands) counts[command] = (counts[command] ?? 0) + 1
  return counts
}

describe('a batch of 500 events', () => {
  test('needs a few commands per collection, not one per event', async () => {
    const reconciler = parts()
    await reconcileBatch(
      names(500, 'first').map(name => refundEvent(name)),
      reconciler,
    )
    expect(await mongo.db.collection('actions').countDocuments()).toBe(500)
    const counts = commandCounts()
    for (const [command, count] of Object.entries(counts)) expect(count, command).toBeLessThanOrEqual(3)
    // Two of them read what people said about actors, which later batches know.
    expect(commands.length).toBeLessThanOrEqual(17)
  })

  test('needs no more commands if all cases exist and are updated', async () => {
    const reconciler = parts()
    const batch = names(500, 'again')
    await reconcileBatch(
      batch.map(name => refundEvent(name)),
      reconciler,
    )
    commands.length = 0
    const operations = batch.map((name): WorkItem => {
      const refs = [`${PROJECT}/processor/pi_${name}`]
      return { kind: 'operation', operation: operation({ operation_id: `op_${name}`, subject: `pi_${name}`, refs }) }
    })
    await reconcileBatch(operations, reconciler)
    expect(await mongo.db.collection('actions').countDocuments({ verdict: 'explained' })).toBe(500)
    for (const [command, count] of Object.entries(commandCounts())) expect(count, command).toBeLessThanOrEqual(3)
  })

  test('needs no more commands if 500 second looks read the ledger', async () => {
    const reconciler = parts()
    const batch = names(500, 'look')
    await reconcileBatch(
      batch.map(name => refundEvent(name)),
      reconciler,
    )
    const ledger = mongo.db.collection<OperationDocument>('operations')
    await ledger.insertMany(
      batch.slice(0, 250).map(name => {
        const { operation_id, ...rest } = operation({
          operation_id: `op_${name}`,
          subject: `pi_${name}`,
          refs: [`${PROJECT}/processor/pi_${name}`],
        })
        return { _id: operation_id, ...rest, outbox: [] }
      }),
    )
    const actions = await mongo.db.collection<{ _id: string; subject: string }>('actions').find().toArray()
    commands.length = 0
    const due = new Date(T0 + 60_000).toISOString()
    const looks = actions.map(({ _id, subject }): WorkItem => {
      const ref = `${PROJECT}/processor/${subject}`
      return { kind: 'recheck', recheck: { project_id: PROJECT, ref, look_id: _id, due_at: due } }
    })
    const later = { ...reconciler, clock: { ...systemClock, now: () => T0 + 60_000 } }
    await reconcileBatch(looks, later)
    for (const [command, count] of Object.entries(commandCounts())) expect(count, command).toBeLessThanOrEqual(3)
    expect(await mongo.db.collection('actions').countDocuments({ verdict: 'explained' })).toBe(250)
    expect(await mongo.db.collection('incidents').countDocuments()).toBe(250)
  })
})

describe('an event with a body of five hundred levels', () => {
  test('is recorded like any other event', async () => {
    const deep = refundEvent('deep')
    if (deep.kind !== 'event') throw new Error('Not an event')
    const nested = JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`) as Record<string, unknown>
    await reconcileBatch([{ ...deep, event: { ...deep.event, body: { ...deep.event.body, nested } } }], parts())
    expect(await mongo.db.collection('inbox').countDocuments()).toBe(1)
    expect(await mongo.db.collection('inbox_bodies').countDocuments()).toBe(1)
  })
})

describe('an unusual id', () => {
  const withId = (name: string, id: string) => {
    const item = refundEvent(name, { paymentIntent: null })
    if (item.kind !== 'event') throw new Error('Not an event')
    const { object } = item.event.body.data as { object: object }
    const named = { ...object, id, charge: `ch_${id}` }
    return { ...item, event: { ...item.event, body: { ...item.event.body, data: { object: named } } } }
  }

  test('leads to its refund again: the next event is added to the first one', async () => {
    const reconciler = parts()
    const id = 'Söhne & Co / %2F | 😀'
    await reconcileBatch([withId('first', id)], reconciler)
    await reconcileBatch([withId('second', id)], reconciler)
    expect(await mongo.db.collection('actions').find().toArray()).toMatchObject([
      { provider_ref: id, event_ids: ['evt_first_con_a', 'evt_second_con_a'] },
    ])
  })

  test('with half a character is refused, because MongoDB would store another character', async () => {
    const refused = { code: 'message_invalid', message: expect.stringContaining('refund.id') }
    await expect(reconcileBatch([withId('half', 're_\ud800')], parts())).rejects.toMatchObject(refused)
    expect(await mongo.db.collection('subjects').countDocuments()).toBe(0)
  })
})

describe('two concurrent reconcilers', () => {
  test('the same thousand refunds, seen by one through the payment and by the other through the charge, are one action each', async () => {
    const batch = names(1_000, 'both')
    const chunks = Array.from({ length: 20 }, (_, index) => batch.slice(index * 50, index * 50 + 50))
    const [one, two] = [parts(), parts()]
    let conflicts = 0
    for (const chunk of chunks) {
      const reports = await Promise.all([
        reconcileBatch(
          chunk.map(name => refundEvent(name)),
          one,
        ),
        reconcileBatch(
          chunk.map(name => refundEvent(name, { connectionId: 'con_b', paymentIntent: null })),
          two,
        ),
      ])
      conflicts += reports.reduce((sum, report) => sum + report.conflicts, 0)
    }
    expect(conflicts, 'how often one lost to the other: without any, this shows nothing').toBeGreaterThan(0)
    expect(await mongo.db.collection('actions').countDocuments()).toBe(1_000)
    expect(await mongo.db.collection('actions').countDocuments({ 'connection_ids.1': { $exists: true } })).toBe(1_000)
    expect(await mongo.db.collection('subjects').countDocuments()).toBe(1_000)
  })

  test('a newer projection by another process is not replaced', async () => {
    const reconciler = parts()
    await reconcileBatch([refundEvent('newer')], reconciler)
    const explains = operation({ subject: 'pi_newer', refs: [`${PROJECT}/processor/pi_newer`] })
    await reconcileBatch([{ kind: 'operation', operation: explains }], reconciler)
    await reconcileBatch([refundEvent('newer', { connectionId: 'con_a' })], reconciler)
    expect(await mongo.db.collection('actions').findOne()).toMatchObject({ verdict: 'explained' })
  })
})

describe('a merge', () => {
  test('joins the actions of the charge with those of the payment intent, and judges them again', async () => {
    const reconciler = parts()
    await reconcileBatch([refundEvent('one', { paymentIntent: null })], reconciler)
    const byIntent = operation({ subject: 'pi_one', refs: [`${PROJECT}/processor/pi_one`] })
    await reconcileBatch([{ kind: 'operation', operation: byIntent, mayCreate: true }], reconciler)
    expect(await mongo.db.collection('subjects').countDocuments()).toBe(2)
    await reconcileBatch([refundEvent('one', { connectionId: 'con_b' })], reconciler)
    expect(await mongo.db.collection('subjects').countDocuments()).toBe(1)
    expect(await mongo.db.collection('actions').find().toArray()).toMatchObject([{ verdict: 'explained' }])
  })
})
