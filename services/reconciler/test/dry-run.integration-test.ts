/** A dry run over the stored history of a shop, on a real MongoDB. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import {
  type ConnectionDocument,
  DryRunLine,
  type DryRunProgress,
  type ExpectedChangeDocument,
  type VerdictDifference,
} from '@backstop/contracts'
import type { Mongo } from '@backstop/kit/mongo'
import { nodeEnvironment, type TestStack, testStack } from '@backstop/kit/test'
import { openMongoBooks } from '@backstop/ledger'
import { MINUTE, T0 } from '@backstop/verdict/test'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dryRun } from '../src/dry-run/dry-run.ts'
import { createMongoReplaySource } from '../src/dry-run/mongo-source.ts'
import { openStores } from '../src/start.ts'
import { createIndexes } from './create-indexes.ts'
import { CARDS, HOUR, OLD_CARDS, recordShop } from './recorded-shop.ts'

const PROGRAM = fileURLToPath(new URL('../src/dry-run/program.ts', import.meta.url))

let stack: TestStack
let client: MongoClient
let mongo: Mongo
let endedAt: number
const commands: string[] = []
const READS = ['find', 'aggregate', 'getMore']

beforeAll(async () => {
  stack = await testStack()
  client = new MongoClient(stack.mongoUrl.reveal(), { monitorCommands: true, ignoreUndefined: true })
  const db = client.db(stack.dbName)
  mongo = { client, db, ping: async () => {}, stop: () => client.close() }
  await createIndexes(db)
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
  client.on('commandStarted', ({ commandName, command }) => {
    const isWrite = JSON.stringify(command.pipeline ?? []).match(/"\$(out|merge)"/) !== null
    commands.push(isWrite ? `writing ${commandName}` : commandName)
  })
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
  expect([...used].filter(command => !READS.includes(command))).toEqual([])
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

/** Runs the program with this standard input, which it closes only if asked to. */
async function runProgram(input: string, options: { isInputClosed?: boolean } = {}) {
  const child = spawn(process.execPath, [PROGRAM], { env: { ...nodeEnvironment() } })
  let [out, err] = ['', '']
  child.stdout.on('data', chunk => (out += chunk))
  child.stderr.on('data', chunk => (err += chunk))
  child.stdin.write(input)
  if (options.isInputClosed) child.stdin.end()
  const [exit] = await once(child, 'close')
  const lines = out.split('\n').filter(line => line !== '')
  return { exit, err, lines: lines.map((line): DryRunLine => DryRunLine.parse(JSON.parse(line))) }
}

const requestLine = () => {
  const database = { mongo_url: stack.mongoUrl.reveal(), database: stack.dbName }
  const window = { from: T0 - HOUR, to: endedAt, connection_id: OLD_CARDS }
  return `${JSON.stringify({ ...database, ...window, out_of_band: 'alert', recheck_delay_ms: MINUTE })}\n`
}

test('the program answers a request with its progress, each difference and the summary', async () => {
  const window = { from: T0 - HOUR, to: endedAt, connectionId: OLD_CARDS }
  const { summary, differences, progress } = await replay({ window, outOfBand: 'alert', now: Date.now })
  const { exit, err, lines } = await runProgram(requestLine())
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(differences.length).toBeGreaterThan(10)
  expect(lines.filter(({ type }) => type === 'difference')).toEqual(
    differences.map(difference => ({ type: 'difference', ...difference })),
  )
  expect(lines.filter(({ type }) => type === 'progress')).toEqual(progress.map(one => ({ type: 'progress', ...one })))
  expect(lines.at(-1)).toEqual({ type: 'summary', ...summary })
})

test.each([
  { name: 'no JSON', input: 'hello\n' },
  { name: 'without a window', input: '{"mongo_url":"mongodb://host","database":"backstop"}\n' },
])('the program answers a request that is $name with one failure', async ({ input }) => {
  const { exit, err, lines } = await runProgram(input)
  expect({ exit, err }).toEqual({ exit: 1, err: '' })
  expect(lines).toEqual([{ type: 'failed', error: expect.any(String) }])
})

test('the program ends without a result when its caller closes standard input', async () => {
  const { exit, lines } = await runProgram(requestLine(), { isInputClosed: true })
  expect({ exit, last: lines.findLast(({ type }) => type !== 'progress' && type !== 'difference') }).toEqual({
    exit: 1,
  })
})

test('bodies that MongoDB removed after their retention are replaced by the stored facts', async () => {
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
