/** A dry run over the stored history of a shop, on a real MongoDB. */
import type { ConnectionDocument, ExpectedChangeDocument } from '@backstop/contracts'
import type { Mongo } from '@backstop/kit'
import { type TestStack, testStack } from '@backstop/kit/test'
import { openMongoBooks } from '@backstop/ledger'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMongoReplaySource, type DryRunProgress, dryRun, type VerdictDifference } from '../src/dry-run/index.ts'
import { openStores } from '../src/start.ts'
import { MINUTE, T0 } from './fixtures.ts'
import { indexed } from './indexed.ts'
import { CARDS, HOUR, OLD_CARDS, recordShop } from './recorded-shop.ts'

let stack: TestStack
let client: MongoClient
let mongo: Mongo
let endedAt: number
const commands: string[] = []

beforeAll(async () => {
  stack = await testStack()
  client = new MongoClient(stack.mongoUrl.reveal(), { monitorCommands: true, ignoreUndefined: true })
  const db = client.db(stack.dbName)
  mongo = { client, db, ping: async () => {}, stop: () => client.close() }
  await indexed(db)
  endedAt = await recordShop(
    {
      stores: openStores(mongo),
      openBooks: announce => openMongoBooks(db, { announce: ({ entries }) => announce(entries) }),
      addConnection: async connection =>
        void (await db.collection<ConnectionDocument>('connections').insertOne(connection)),
      addExpectedChange: async expectedChange =>
        void (await db.collection<ExpectedChangeDocument>('expected_changes').insertOne(expectedChange)),
    },
    7,
    15,
  )
  client.on('commandStarted', ({ commandName }) => commands.push(commandName))
})

afterAll(async () => {
  await client?.close()
  await stack?.close()
})

async function replay(options: Partial<Parameters<typeof dryRun>[0]> = {}) {
  const differences: VerdictDifference[] = []
  const progress: DryRunProgress[] = []
  commands.length = 0
  const summary = await dryRun({
    source: createMongoReplaySource(mongo),
    window: { from: T0 - HOUR, to: endedAt },
    recheckDelayMs: MINUTE,
    now: () => endedAt,
    onDifference: difference => differences.push(difference),
    onProgress: one => progress.push(one),
    ...options,
  })
  return { summary, differences, progress, used: new Set(commands) }
}

test('with the rules and settings of today nothing differs, and nothing is written', async () => {
  const before = await mongo.db.collection('subjects').find().sort({ _id: 1 }).toArray()
  const { summary, differences, progress, used } = await replay()
  expect(differences).toEqual([])
  expect(summary.actions.compared).toBe(
    await mongo.db.collection('actions').countDocuments({ kind: { $in: ['refund', 'cancellation'] } }),
  )
  expect(summary.actions.compared).toBeGreaterThan(150)
  expect(summary.events.in_window).toBe(await mongo.db.collection('inbox').countDocuments())
  expect(progress.length, 'it goes by pages').toBeGreaterThanOrEqual(3)
  expect([...used].filter(command => command !== 'getMore')).toEqual(['find'])
  expect(await mongo.db.collection('subjects').find().sort({ _id: 1 }).toArray()).toEqual(before)
})

test('a changed setting flips exactly the verdicts of its connection', async () => {
  const window = { from: T0 - HOUR, to: endedAt, connectionId: OLD_CARDS }
  const { summary, differences } = await replay({ window, outOfBand: 'alert' })
  const quiet = await mongo.db
    .collection('actions')
    .countDocuments({ connection_ids: OLD_CARDS, verdict: 'not_alerted' })
  expect(quiet).toBe(15)
  expect(summary.changes).toEqual([
    { from: 'not_alerted (auto_before_first_operation)', to: 'unexplained (nothing_explains_it)', count: quiet },
  ])
  expect(differences).toHaveLength(quiet)
})

test('bodies that MongoDB removed after their retention leave what was understood of them', async () => {
  const bodies = mongo.db.collection('inbox_bodies')
  const kept = await bodies.find().toArray()
  await bodies.deleteMany({ _id: { $gt: CARDS } as never })
  try {
    const { summary, differences } = await replay()
    expect(differences).toEqual([])
    expect(summary.actions.by_basis.expired).toBeGreaterThan(50)
  } finally {
    await bodies.deleteMany({})
    await bodies.insertMany(kept)
  }
})
