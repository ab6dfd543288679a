/** The first sweeps of new connections with real MongoDB and two reconcilers, beside providers that do not answer, and entries of deleted connections. */
import type { ConnectionDocument, SweepDocument } from '@backstop/contracts'
import { systemClock } from '@backstop/kit/clock'
import { Secret } from '@backstop/kit/config'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { createOutboxPublisher } from '@backstop/kit/outbox'
import { createSecretBox } from '@backstop/kit/secret-box'
import { createFixedCodec, createMemoryBus, startReceiver, type TestStack, testStack, until } from '@backstop/kit/test'
import { PROJECT } from '@backstop/verdict/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createConnectionIncidents } from '../src/incidents/connection-incidents.ts'
import { ConnectionReaders } from '../src/reading/connection-readers.ts'
import { createHeldHints } from '../src/reading/held-hints.ts'
import { openStores } from '../src/stores.ts'
import { newSweep } from '../src/sweep/sweep-store.ts'
import { createSweeper } from '../src/sweep/sweeper.ts'
import { connectionOf } from './connection-of.ts'
import { createIndexes } from './create-indexes.ts'
import { readingPorts, TEST_KEYS } from './reading-ports.ts'

const SILENT = 20
const DELETED = 300
const FIRST_WITHIN_MS = 10_000

let stack: TestStack
let mongo: Mongo
const stops: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  stack = await testStack()
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'test' })
  await createIndexes(mongo.db)
})

afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
  await mongo?.stop()
  await stack?.close()
})

/** The sweeper of one reconciler process. */
async function startReconciler(holder: string): Promise<void> {
  const clock = systemClock
  const codec = createFixedCodec()
  const producer = createMemoryBus({ clock, partitions: 1 }).producer({ sendTimeoutMs: 1_000 })
  await producer.start()
  const stores = openStores(mongo)
  const { connections, inbox, standaloneIncidents: incidents, sweeps, sweepDays } = stores
  const reading = readingPorts(stack.logger)
  const stored = { connections, inbox, sweeps, sweepDays }
  const common = { ...stored, producer, codec, clock, logger: stack.logger, random: Math.random }
  const publisher = createOutboxPublisher({ source: incidents.outbox, producer, encoder: codec, logger: stack.logger })
  const sweeper = createSweeper({
    ...common,
    readers: new ConnectionReaders({ ...common, ...reading }),
    heldHints: createHeldHints(common),
    incidents: createConnectionIncidents({ incidents, publisher, clock }),
    holder,
    everyMs: 300_000,
  })
  sweeper.start()
  stops.push(
    () => reading.egress.stop(),
    () => sweeper.stop(),
  )
}

const secretBox = createSecretBox(TEST_KEYS)

async function addConnections(ids: readonly string[], apiBase: string, more: Partial<ConnectionDocument> = {}) {
  const documents = ids.map(id => {
    const context = { collection: 'connections', field: 'read_key', id, projectId: PROJECT } as const
    const created_at = new Date(Date.now() - 60_000)
    const read_key = {
      sealed: secretBox.seal(new Secret('rk_test'), context),
      fingerprint: 'f',
      created_at,
      expires_at: null,
    }
    return connectionOf(id, { api_base: `${apiBase}/${id}`, read_key, created_at, ...more })
  })
  await mongo.db.collection<ConnectionDocument>('connections').insertMany(documents)
}

const named = (name: string, count: number) => Array.from({ length: count }, (_, index) => `con_${name}_${index}`)

test('start within ten seconds while twenty other connections do not answer, and entries of deleted connections are removed', async () => {
  const askedAt = new Map<string, number>()
  const provider = await startReceiver((request, response) => {
    const id = request.path.split('/')[1] ?? ''
    if (!askedAt.has(id)) askedAt.set(id, performance.now())
    if (!id.includes('silent')) response.writeHead(200).end('{"object":"list","data":[],"has_more":false}')
  })
  stops.push(provider.stop)
  const sweeps = mongo.db.collection<SweepDocument>('sweeps')
  const deleted = named('deleted', DELETED)
  await addConnections(deleted, provider.url, { status: 'deleted' })
  await sweeps.insertMany(deleted.map(id => newSweep(id, PROJECT, Date.now() - 600_000)))
  const silent = named('silent', SILENT)
  await addConnections(silent, provider.url)
  await Promise.all(['p1', 'p2'].map(startReconciler))
  await until('requests to each silent provider', () => silent.every(id => askedAt.has(id)), {
    timeoutMs: 60_000,
    seen: () => askedAt.size,
  })
  const created = named('new', 5)
  await addConnections(created, provider.url)
  const addedAt = performance.now()
  await until('the first sweeps', () => created.every(id => askedAt.has(id)), { timeoutMs: 60_000 })
  const waitedMs = Math.max(...created.map(id => (askedAt.get(id) ?? Number.POSITIVE_INFINITY) - addedAt))
  expect(waitedMs).toBeLessThan(FIRST_WITHIN_MS)
  await until(
    'the removal of the entries of deleted connections',
    async () => (await sweeps.countDocuments({ _id: { $in: deleted } })) === 0,
    {
      timeoutMs: 10_000,
    },
  )
})
