/** Unusual ids that merchants chose, from the biller's API over real Kafka and MongoDB to the verdict. */
import type { ActionDocument, ConnectionDocument, InboxDocument, SweepDocument } from '@backstop/contracts'
import { systemClock } from '@backstop/kit/clock'
import { Secret } from '@backstop/kit/config'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { createMetrics } from '@backstop/kit/ops'
import { createSecretBox } from '@backstop/kit/secret-box'
import { createFixedCodec, readAll, startReceiver, type TestStack, testStack, until } from '@backstop/kit/test'
import { openMongoBooks } from '@backstop/ledger'
import { createBiller, startBillerApi } from '@backstop/simulator'
import { PROJECT } from '@backstop/verdict/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../src/app.ts'
import { openStores } from '../src/stores.ts'
import { connectionOf } from './connection-of.ts'
import { createIndexes } from './create-indexes.ts'
import { readingPorts, TEST_KEYS, TEST_SETTINGS } from './reading-ports.ts'

const READ_KEY = 'live_reads_this_site'
const UNEXPLAINED = 'Söhne & Co KG / 1'
const OURS = '../Straße|7?x=%2F'
const UNUSABLE = 'made-unusable'
const WITHIN = { timeoutMs: 60_000 }

let stack: TestStack
let mongo: Mongo
const stops: (() => Promise<void>)[] = []

beforeAll(async () => {
  stack = await testStack()
  const inbound = ['inbound.processor', 'inbound.reseller', 'inbound.subscription', 'inbound.dead'] as const
  const own = ['operations', 'rechecks', 'rechecks.due', 'rereads', 'rereads.retry', 'readbacks', 'commands'] as const
  await stack.createTopics([...inbound, ...own, 'incidents', 'alerts'], 1)
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'test' })
  await createIndexes(mongo.db)
})

afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
  await mongo?.stop()
  await stack?.close()
})

/** A site whose API returns one subscription with an impossible id. */
async function openSite() {
  const biller = createBiller({ now: Date.now })
  const api = await startBillerApi({ biller, readKeys: [READ_KEY], now: Date.now })
  const spoilt = JSON.stringify(UNUSABLE)
  const front = await startReceiver((request, response) => {
    const headers = { authorization: request.headers.authorization ?? '' }
    void fetch(api.url + request.path, { headers }).then(async answer =>
      response.writeHead(answer.status).end((await answer.text()).replaceAll(spoilt, '"S\\u0007"')),
    )
  })
  stops.push(api.stop, front.stop)
  return { biller, url: front.url }
}

async function startSweeping(apiBase: string) {
  const secretBox = createSecretBox(TEST_KEYS)
  const context = { collection: 'connections', field: 'read_key', id: 'con_site', projectId: PROJECT } as const
  const created_at = new Date(Date.now() - 60_000)
  const read_key = {
    sealed: secretBox.seal(new Secret(READ_KEY), context),
    fingerprint: 'f',
    created_at,
    expires_at: null,
  }
  const settings = { kind: 'subscription', site: 'acme', api_base: apiBase, read_key, created_at } as const
  await mongo.db.collection<ConnectionDocument>('connections').insertOne(connectionOf('con_site', settings))
  const app = createApp(
    {
      bus: stack.bus(),
      codec: createFixedCodec(),
      clock: systemClock,
      stores: openStores(mongo),
      openBooks: options => openMongoBooks(mongo.db, options),
      logger: stack.logger,
      metrics: createMetrics('reconciler'),
      ...readingPorts(stack.logger),
      onFatal: error => stack.logger.fatal({ error }, 'fatal'),
    },
    { ...TEST_SETTINGS, recheckDelayMs: 500, sweepEveryMs: 1_000 },
  )
  await app.start()
  stops.push(() => app.stop())
}

test('a sweep with one unusable object and unusual ids judges each other object, and dead-letters the unusable one once', async () => {
  const { biller, url } = await openSite()
  for (const id of [UNEXPLAINED, OURS, UNUSABLE]) {
    biller.subscribe({ amount: 999, id })
    biller.cancel(id)
  }
  const { ledger } = openMongoBooks(mongo.db, { announce: () => {} })
  const ours = { connection_id: 'con_site', kind: 'cancellation', subject: OURS, state: 'completed' } as const
  await ledger.record(ours, { _id: 'con_site', project_id: PROJECT, kind: 'subscription', site: 'acme' }, Date.now())
  await startSweeping(url)

  const actions = mongo.db.collection<ActionDocument>('actions')
  const verdictOf = async (subject: string) => (await actions.findOne({ subject, kind: 'cancellation' }))?.verdict
  await until(
    'the verdict on what nothing explains',
    async () => (await verdictOf(UNEXPLAINED)) === 'unexplained',
    WITHIN,
  )
  await until('the verdict on ours', async () => (await verdictOf(OURS)) === 'explained', WITHIN)
  const incidents = await mongo.db.collection('incidents').find({ code: 'UNEXPECTED_ACTION' }).toArray()
  expect(incidents).toHaveLength(1)
  expect(incidents[0]?.summary).toContain(UNEXPLAINED)

  const sweeps = mongo.db.collection<SweepDocument>('sweeps')
  const { last_run_at: ranAt } = (await sweeps.findOne({ _id: 'con_site' })) ?? {}
  await until(
    'two more sweeps',
    async () => {
      const sweep = await sweeps.findOne({ _id: 'con_site' })
      expect(sweep?.last_error).toBeNull()
      return Number(sweep?.last_run_at) > Number(ranAt) + 3_000
    },
    WITHIN,
  )
  const parked = await mongo.db.collection<InboxDocument>('inbox').find({ outcome: 'parked' }).toArray()
  const unusable = parked.filter(({ reason }) => reason.includes('"S\\u0007"'))
  expect(unusable.map(({ reason }) => reason)).toContain(
    'The subscription "S\\u0007" in an answer of the subscription provider cannot be used: it has no usable id',
  )
  const producer = stack.bus().producer({ sendTimeoutMs: 10_000 })
  await producer.start()
  await producer.send([{ topic: 'inbound.dead', key: 'end', value: Buffer.from('end'), headers: {} }])
  await producer.stop()
  const dead = await readAll(stack, 'inbound.dead', messages => messages.at(-1)?.key === 'end')
  expect(dead.map(({ key }) => key)).toEqual(['con_site', 'end'])
})
