/**
 * Data of each earlier release, recorded by its own code (scripts/release-data.ts): its documents, and the messages that it had not processed.
 * This version must show it, finish its work, and add to it.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import {
  type AuditVerification,
  frame,
  type MessageName,
  periodOf,
  type ShownBudget,
  type ShownOperation,
  type TopicName,
} from '@backstop/contracts'
import { createKafkaBus } from '@backstop/kit/bus'
import { createLogger } from '@backstop/kit/logger'
import { createMongoSchemaIds, createRegistryCodec } from '@backstop/kit/registry'
import { until } from '@backstop/kit/test'
import { type Receiver, startReceiver } from '@backstop/simulator'
import { BSON, type Document, MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { createManagementApi, type ManagementApi } from '../../scripts/start/management-api.ts'
import { type Product, startProduct } from '../../scripts/start/product.ts'
import { databaseName } from '../../scripts/start/service-environment.ts'
import { eventOf, incidentOf, refOf } from '../setup/customer.ts'
import { dataFolder, stackUrls } from '../setup/product.ts'

interface ReleaseData {
  version: string
  secrets: { secretKeys: string; bootstrapKey: string }
  projectId: string
  connectionId: string
  receiverUrl: string
  refunds: Record<'explained' | 'unexplained' | 'resolved' | 'retrying' | 'pending' | 'unread', RecordedRefund>
  documents: Record<string, Document[]>
  messages: { topic: TopicName; key: string | null; json: string; headers: Record<string, string> }[]
}
interface RecordedRefund {
  id: string
  subject: string
  amount: number
}

const CHANNEL_SECRET = 'whsec_c2hhcmVkIHdpdGggdGhlIHJlY2VpdmVy'

function messageOf(topic: TopicName): MessageName {
  if (topic.startsWith('inbound.')) return 'inbound-event'
  if (topic.startsWith('rechecks')) return 'recheck'
  return topic.startsWith('deliveries') ? 'delivery-request' : 'alert'
}

const releases = globSync('*.json.gz', { cwd: import.meta.dirname }).map(file => basename(file, '.json.gz'))

test('data of every release before this version is recorded', () => {
  const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
  const released = [...changelog.matchAll(/^## (\d\S*)/gm)].map(([, release]) => release)
  expect(releases.sort()).toEqual(released.filter(release => release !== packageJson.version).sort())
})

describe.each(releases)('the data of %s', release => {
  let data: ReleaseData
  let product: Product
  let receiver: Receiver
  let api: ManagementApi
  const list = async <T>(path: string) =>
    (await api.get<{ data: T[] }>(`${path}?project_id=${data.projectId}&limit=200`)).data
  const actionOf = async (refund: RecordedRefund) =>
    (await list<{ provider_ref: string; verdict: string; action_id: string }>('/v1/actions')).find(
      ({ provider_ref }) => provider_ref === refund.id,
    )
  const heardOf = ({ id }: RecordedRefund) => receiver.deliveries().filter(delivery => refOf(delivery) === id)

  beforeAll(async () => {
    receiver = await startReceiver({ secret: CHANNEL_SECRET, now: Date.now })
    const stored = gunzipSync(readFileSync(new URL(`${release}.json.gz`, import.meta.url))).toString('utf8')
    data = JSON.parse(stored)
    const { audit = [] } = data.documents
    data = JSON.parse(stored.replaceAll(data.receiverUrl, receiver.url))
    // Rows of the audit that are part of its chain must stay as they are.
    data.documents.audit = audit
    product = await openWith(data)
    api = createManagementApi(product.urls.admin, product.key)
  })
  afterAll(async () => {
    await product?.stop()
    await receiver?.stop()
  })

  test('has its verdicts, incidents, operations and budgets', async () => {
    const { refunds } = data
    expect((await actionOf(refunds.explained))?.verdict).toBe('explained')
    expect((await actionOf(refunds.unexplained))?.verdict).toBe('unexplained')
    expect((await actionOf(refunds.resolved))?.verdict).toBe('explained')
    const incidents = await list<{ state: string }>('/v1/incidents')
    expect(incidents.filter(({ state }) => state === 'resolved')).toHaveLength(1)
    expect(incidents.filter(({ state }) => state === 'open').length).toBeGreaterThanOrEqual(2)
    const operations = await list<ShownOperation>('/v1/operations')
    expect(operations.map(({ subject }) => subject).sort()).toEqual(
      [refunds.explained.subject, refunds.resolved.subject].sort(),
    )
    const [budget] = await list<ShownBudget>('/v1/budgets')
    expect(budget?.current.used).toBe(refunds.explained.amount + refunds.resolved.amount)
  })

  test('a second look that was pending happens, once', async () => {
    await until('the alert', () => heardOf(data.refunds.pending).length > 0, { timeoutMs: 60_000 })
    expect((await actionOf(data.refunds.pending))?.verdict).toBe('unexplained')
  })

  test('an event that was not processed is judged', async () => {
    await until('the alert', () => heardOf(data.refunds.unread).length > 0, { timeoutMs: 60_000 })
    expect((await actionOf(data.refunds.unread))?.verdict).toBe('unexplained')
  })

  test('a delivery that waited for a retry is delivered, with the secret of its channel', async () => {
    const delivery = await until('the delivery', () => heardOf(data.refunds.retrying)[0], { timeoutMs: 90_000 })
    expect(delivery).toMatchObject({ serviceSignature: 'valid', standardWebhook: 'valid' })
  })

  test('an incident of before is resolved by an operation of now', async () => {
    const { id, subject, amount } = data.refunds.unexplained
    const operation = { subject, amount, currency: 'eur', provider_ref: id, state: 'completed', kind: 'refund' }
    await api.post('/v1/operations', { connection_id: data.connectionId, ...operation })
    await until(
      'the resolution',
      () => heardOf(data.refunds.unexplained).some(one => eventOf(one) === 'incident.resolved'),
      {
        timeoutMs: 60_000,
      },
    )
    expect((await actionOf(data.refunds.unexplained))?.verdict).toBe('explained')
  })

  test('its audit joins the chain, and is intact', async () => {
    const verified = await until('its rows to join', async () => {
      const one = await api.get<AuditVerification>('/v1/audit/verify')
      return one.verified >= (data.documents.audit?.length ?? 0) ? one : undefined
    })
    expect(verified).toMatchObject({ state: 'intact', faults: [], unsigned: 0 })
    // Rows of before 0.3.0 have hashes only. A row of now may have joined with them.
    const areSigned = data.documents.audit_chain?.some(({ mac }) => mac !== undefined) === true
    const hashed = areSigned ? 0 : data.documents.audit?.length
    expect(verified.hashed_until ?? 0).toBeGreaterThanOrEqual(hashed ?? 0)
  })

  test('nothing alerts again', () => {
    const sent = receiver.deliveries().map(one => `${incidentOf(one)?.incident_id} ${eventOf(one)}`)
    expect(new Set(sent).size).toBe(sent.length)
    expect(heardOf(data.refunds.explained)).toEqual([])
    expect(heardOf(data.refunds.resolved)).toEqual([])
  })
})

/** The recorded month of a budget as if it were the present one, because the API shows no other. */
function inThisMonth(period: Document): Document {
  const { firstDay, startsAt, endsAt } = periodOf('month', Date.now())
  const _id = `${period.budget_id}/${firstDay}`
  return { ...period, _id, starts_at: new Date(startsAt), ends_at: new Date(endsAt) }
}

/** Starts this version on the documents and messages, as after an update. */
async function openWith(data: ReleaseData): Promise<Product> {
  const topicPrefix = `upgrade-${process.pid}-${Date.now().toString(36)}.`
  const urls = stackUrls()
  const dataDir = dataFolder('upgrade')
  writeFileSync(join(dataDir, 'secrets.json'), JSON.stringify(data.secrets), { mode: 0o600 })
  const client = new MongoClient(urls.mongo)
  const database = client.db(databaseName(topicPrefix))
  for (const [name, documents] of Object.entries(data.documents)) {
    const read = documents.map(document => BSON.EJSON.deserialize(document) as Document)
    await database.collection<Document>(name).insertMany(name === 'budget_periods' ? read.map(inThisMonth) : read)
  }
  // The deploy job runs beside the documents of before.
  const product = await startProduct({
    dataDir,
    env: process.env,
    stackUrls: urls,
    topicPrefix,
    recheckDelayMs: 2_000,
    only: [],
  })
  const logger = createLogger('upgrade', 'silent')
  const schemaIds = createMongoSchemaIds(database)
  const codec = await createRegistryCodec({ registryUrl: urls.registry, topicPrefix, schemaIds, logger })
  const producer = createKafkaBus({
    brokers: urls.kafka.split(','),
    clientId: 'upgrade',
    topicPrefix,
    logger,
  }).producer({
    sendTimeoutMs: 30_000,
  })
  await producer.start()
  await producer.send(
    data.messages.map(({ topic, key, json, headers }) => ({
      ...{ topic, key: key ?? '', headers },
      value: frame(codec.schemaId(messageOf(topic)), json),
    })),
  )
  await producer.stop()
  await client.close()
  for (const child of Object.values(product.children)) child.start()
  for (const child of Object.values(product.children)) await child.untilReady()
  return product
}
