/** Runs `backstop doctor` beside a product with real Kafka, MongoDB and registry, and plants each fault that it identifies. */
import { tmpdir } from 'node:os'
import { type ConnectionDocument, INBOUND_TOPICS, type ServiceName } from '@backstop/contracts'
import { createTopicAdmin, type TopicAdmin } from '@backstop/kit/bus'
import { Secret } from '@backstop/kit/config'
import { createLogger } from '@backstop/kit/logger'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { until } from '@backstop/kit/test'
import { choosePorts } from '@backstop/stack'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommandLine } from '../../packages/cli/src/command-line.ts'
import { provision } from '../../packages/provision/src/index.ts'
import { createManagementApi, type ManagementApi } from '../../scripts/start/management-api.ts'
import type { Product } from '../../scripts/start/product.ts'
import { ALL_PARTITIONS, openProduct, stackUrls } from '../setup/product.ts'
import { openShop, type Shop } from '../setup/shop.ts'

const DAY_MS = 86_400_000

let product: Product
let api: ManagementApi
let shop: Shop
let mongo: Mongo
let admin: TopicAdmin

beforeAll(async () => {
  // A topic with fewer partitions than those of the contracts is a fault.
  product = await openProduct('doctor', { provision: ALL_PARTITIONS })
  api = createManagementApi(product.urls.admin, product.key)
  shop = await openShop(product)
  mongo = connectMongo({ url: new Secret(product.urls.mongo), dbName: product.database, appName: 'doctor-test' })
  const logger = createLogger('doctor-test', 'silent')
  admin = createTopicAdmin({ brokers: product.urls.kafka.split(','), clientId: 'doctor-test', logger })
  await admin.connect()
})

afterAll(async () => {
  await admin?.stop()
  await mongo?.stop()
  await shop?.stop()
  await product?.stop()
})

const environment = () => ({
  BACKSTOP_URL: product.urls.admin,
  BACKSTOP_API_KEY: product.key,
  KAFKA_BROKERS: product.urls.kafka,
  KAFKA_TOPIC_PREFIX: product.topicPrefix,
  MONGO_URL: product.urls.mongo,
  MONGO_DB: product.database,
  SCHEMA_REGISTRY_URL: product.urls.registry,
})

interface Run {
  readonly env?: Record<string, string>
  readonly args?: readonly string[]
  readonly aheadMs?: number
}

/** The services that this file stopped. */
let stopped: readonly ServiceName[] = []

async function doctor({ env = {}, args = [], aheadMs = 0 }: Run = {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const exit = await runCommandLine(['doctor', '--json', '--disk-percent', '100', ...args], {
    environment: { ...environment(), ...env },
    folder: tmpdir(),
    out: text => out.push(text),
    err: text => err.push(text),
    readInput: async () => '',
    isTerminal: false,
    operator: 'ada@laptop',
    now: () => Date.now() + aheadMs,
  })
  const { findings: found, not_checked } = JSON.parse(out.join('')) as {
    findings: { code: string; what: string; remedy: string }[]
    not_checked: unknown[]
  }
  const isExpected = ({ what }: { what: string }) => stopped.some(service => what === missing(service))
  const findings = found.filter(finding => !isExpected(finding))
  expect({ not_checked, err: err.join('') }).toMatchObject({ not_checked: [] })
  return { exit, findings, codes: [...new Set(findings.map(({ code }) => code))] }
}

const missing = (service: ServiceName) => `No process of ${service} reports that it runs`

const unusedPort = async () => String((await choosePorts({ unused: {} })).unused)

test('a healthy installation has no faults, and exit code 0', async () => {
  // A process reports half a second after it is ready.
  await until('all processes to report that they are ready', async () => (await doctor()).codes.length === 0)
  expect(await doctor()).toEqual({ exit: 0, findings: [], codes: [] })
})

test('a process with wrong keys is named with its reason, although all others are well', async () => {
  const { keys } = await api.get<{ keys: { key_id: string }[] }>('/v1/secret-keys')
  const keyId = keys[0]?.key_id
  const wrong = await product.createInstance('ingress', 'ingress-wrong')
  wrong.start({ SECRET_KEYS: `${keyId}:${Buffer.alloc(32, 1).toString('base64')}` })
  const texts = async () => (await doctor()).findings.map(({ code, what }) => `${code} ${what}`).toSorted()
  // Before, it has not compared its clock.
  await until('its reason', async () => /SECRET_KEYS has another key/.test((await texts()).join()), {
    timeoutMs: 30_000,
  })
  expect(await texts()).toEqual([
    expect.stringMatching(/^process_not_ready ingress \S+ is not ready: SECRET_KEYS has another key under the id/),
    expect.stringMatching(/^wrong_secret_key SECRET_KEYS of ingress \S+ has another key under the id/),
  ])
  await wrong.stop()
  expect(await doctor()).toMatchObject({ exit: 0 })
})

test('a service without a process is named', async () => {
  await Promise.all([product.children.reconciler.stop(), product.children.notifier.stop()])
  const { exit, findings } = await doctor()
  expect({ exit, whats: findings.map(({ what }) => what) }).toEqual({
    exit: 1,
    whats: [missing('reconciler'), missing('notifier')],
  })
  // From here on, posted events stay unread.
  stopped = ['reconciler', 'notifier']
})

test('Kafka, MongoDB or registry down is one fault each', async () => {
  const port = await unusedPort()
  expect(await doctor({ env: { KAFKA_BROKERS: `127.0.0.1:${port}` } })).toMatchObject({
    exit: 1,
    codes: ['kafka_down'],
  })
  const url = `http://127.0.0.1:${port}`
  expect(await doctor({ env: { SCHEMA_REGISTRY_URL: url } })).toMatchObject({ exit: 1, codes: ['registry_down'] })
  expect(await doctor({ env: { BACKSTOP_URL: url } })).toMatchObject({ exit: 1, codes: ['api_down'] })
})

test('a wrong master key, and a key that was renamed, cannot decrypt stored secrets', async () => {
  const key = Buffer.alloc(32, 1).toString('base64')
  const { codes, findings } = await doctor({ env: { SECRET_KEYS: `other:${key}` } })
  expect(codes).toEqual(['wrong_secret_key'])
  expect(findings[0]?.what).toContain(shop.connection.connection_id)
})

test('a clock that is wrong is one fault', async () => {
  const { codes, findings } = await doctor({ aheadMs: 600_000 })
  expect(codes).toEqual(['clock_offset'])
  expect(findings[0]?.what).toMatch(/MongoDB is \S+ s behind.*this machine is wrong|admin-api is \S+ s behind/)
})

test('a disk that is fuller than the limit is a fault', async () => {
  expect(await doctor({ args: ['--disk-percent', '1'] })).toMatchObject({ exit: 1, codes: ['disk_full'] })
})

test('a missing index, schema and topic are found, and the deploy job mends them', async () => {
  await mongo.db.collection('actions').dropIndex('first_seen_-1__id_-1')
  await mongo.db.collection<{ _id: string }>('schema_ids').deleteOne({ message: 'recheck' } as never)
  await admin.delete([`${product.topicPrefix}rereads`])
  await until('the faults', async () => (await doctor()).codes.length === 3)
  const { findings } = await doctor()
  expect(findings.map(({ code, what }) => `${code} ${what}`).toSorted()).toEqual([
    expect.stringMatching(/^index_missing .*index .* of actions/),
    expect.stringMatching(/^schema_missing .*schema of recheck/),
    expect.stringMatching(/^topic_missing .*topic .*rereads/),
  ])
  const { kafka, registry } = stackUrls()
  await provision({
    kafka: { brokers: kafka.split(','), clientId: 'doctor-test', logger: createLogger('doctor-test', 'silent') },
    topicPrefix: product.topicPrefix,
    durability: { replication: 1, minInsync: 1 },
    mongo: { url: new Secret(product.urls.mongo), dbName: product.database },
    registryUrl: registry,
    waitMs: 60_000,
    report: () => {},
  })
  await until('no faults', async () => (await doctor()).codes.length === 0)
})

test('a connection without a notification for a day, a rejected read key, a disabled channel and dead letters are found', async () => {
  const { connection_id } = shop.connection
  const channel = await api.post<{ channel_id: string }>('/v1/alert-channels', {
    project_id: shop.projectId,
    name: 'Team',
    events: ['incident.opened'],
    config: { kind: 'email', to: ['team@example.com'] },
  })
  const base = `/v1/projects/${shop.projectId}/connections/${connection_id}`
  await api.patch(base, { read_key: 'rk_test_that_is_refused_0123' })
  // A sweep from before the key says nothing about it.
  const at = new Date()
  await mongo.db
    .collection<ConnectionDocument>('connections')
    .updateOne({ _id: connection_id }, { $set: { created_at: new Date(Date.now() - 2 * DAY_MS) } })
  // As reconciler and notifier store them.
  const put = (collection: string, _id: string, fields: object) =>
    mongo.db.collection<{ _id: string }>(collection).updateOne({ _id }, { $set: fields }, { upsert: true })
  await put('sweeps', connection_id, {
    project_id: shop.projectId,
    cursor: null,
    next_run_at: at,
    last_run_at: at,
    last_error: 'The provider refuses the read key; make a new read-only key there and store it on the connection',
    failing_since: at,
    unseen: [],
    open_incidents: {},
  })
  await put('channel_health', channel.channel_id, {
    project_id: shop.projectId,
    disabled_at: at,
    disabled_reason: 'Five days of failures',
    last_success_at: null,
    last_failure_at: at,
    last_error: 'It answers 500',
  })
  await put('dead_letters', 'dlt_1', {
    kind: 'alert',
    project_id: null,
    resource_id: null,
    topic: 'alerts',
    key: 'k',
    value: null,
    headers: {},
    reason_code: 'message_invalid',
    reason: 'Not a message',
    parked_at: at,
  })
  const { exit, codes } = await doctor()
  expect({ exit, codes: codes.toSorted() }).toEqual({
    exit: 1,
    codes: ['channel_disabled', 'dead_letters', 'no_webhook', 'read_key_rejected'],
  })
})

test('messages that no reconciler processes are a lag', async () => {
  shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 500 })
  await shop.endpoint.idle()
  await until('the lag', async () => {
    const { findings } = await doctor({ args: ['--lag-seconds', '1'] })
    return findings.some(
      ({ code, what }) => code === 'consumer_lag' && what.includes(`${product.topicPrefix}${INBOUND_TOPICS.processor}`),
    )
  })
})
