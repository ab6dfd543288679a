/**
 * `node scripts/release-data.ts <file>`: records what an installation of this version stores and has in flight, for the test that the next
 * version reads it (test/upgrade). Copy this file into an older checkout to record the data of that version. Starts its own stack.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createTopicAdmin } from '@backstop/kit/bus'
import { createLogger } from '@backstop/kit/logger'
import { until } from '@backstop/kit/test'
import { progressOn } from '@backstop/stack'
import kafkajs from 'kafkajs'
import { BSON, MongoClient } from 'mongodb'
import packageJson from '../package.json' with { type: 'json' }
import { openShop } from '../test/setup/shop.ts'
import { type Product, startProduct } from './start/product.ts'

const PREFIX = 'release.'
const RECHECK_MS = 20_000
/** Which group reads the topics whose unread messages are recorded. */
const UNREAD: Readonly<Record<string, string>> = {
  'inbound.processor': 'reconciler',
  rechecks: 'reconciler.rechecks',
  alerts: 'notifier',
  deliveries: 'notifier.deliveries',
  'deliveries.retry.5s': 'notifier.retry.5s',
  'deliveries.retry.1m': 'notifier.retry.1m',
}
/** Magic byte and schema id of a message. */
const FRAME_BYTES = 5

const file = resolve(process.argv[2] ?? 'release-data.json.gz')
const folder = mkdtempSync(join(tmpdir(), 'backstop-release-'))
const product = await startProduct({
  dataDir: folder,
  env: process.env,
  topicPrefix: PREFIX,
  recheckDelayMs: RECHECK_MS,
  log: progressOn(process.stderr),
})
try {
  const world = await live(product)
  const data = {
    version: packageJson.version,
    secrets: JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8')),
    ...world,
    messages: await readUnread(product),
    documents: await readDocuments(product),
  }
  writeFileSync(file, gzipSync(JSON.stringify(data), { level: 9 }))
  const documents = Object.values(data.documents).reduce((sum, list) => sum + list.length, 0)
  process.stdout.write(`${file}: ${documents} documents, ${data.messages.length} messages\n`)
} finally {
  await product.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** Lets a shop refund in every way that leaves something behind. */
async function live(running: Product) {
  const shop = await openShop(running)
  const refund = (amount: number) => {
    const payment = shop.pay()
    const { id } = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount })
    const operation = {
      subject: payment.paymentIntent.id,
      amount,
      currency: 'eur',
      provider_ref: id,
      state: 'completed',
    }
    return { id, subject: payment.paymentIntent.id, amount, report: () => shop.report(operation) }
  }
  const budget = { project_id: shop.projectId, name: 'Refunds', currency: 'eur', cap: 1_000_000, interval: 'month' }
  await shop.api.post('/v1/budgets', budget)
  const explained = refund(1_100)
  await explained.report()
  const unexplained = refund(1_200)
  const resolved = refund(1_300)
  for (const { id } of [unexplained, resolved]) await shop.alertAbout(id, 90_000)
  await resolved.report()
  await until('the resolution', () => shop.alertsAbout(resolved.id).length === 2, { timeoutMs: 60_000 })
  shop.receiver.answerWith(() => ({ kind: 'answer', status: 500 }))
  const retrying = refund(1_400)
  await shop.alertAbout(retrying.id, 90_000)
  const pending = refund(1_500)
  await until('the pending action', () => shop.action(pending.id), { timeoutMs: 30_000 })
  await running.children.reconciler.stop(30_000)
  const before = shop.endpoint.attempts().length
  const unread = refund(1_600)
  const isPosted = () =>
    shop.endpoint
      .attempts()
      .some(({ eventType, status }, index) => index >= before && eventType === 'refund.created' && status === 200)
  await until('the event of the stopped reconciler', isPosted, { timeoutMs: 30_000 })
  await running.children.notifier.stop(30_000)
  await Promise.all([running.children.ingress.stop(), running.children['admin-api'].stop()])
  const refunds = Object.fromEntries(
    Object.entries({ explained, unexplained, resolved, retrying, pending, unread }).map(
      ([name, { id, subject, amount }]) => [name, { id, subject, amount }],
    ),
  )
  const { projectId, connection, receiver } = shop
  await shop.stop()
  return { projectId, connectionId: connection.connection_id, receiverUrl: receiver.url, refunds }
}

async function readDocuments(running: Product): Promise<Record<string, unknown[]>> {
  const client = new MongoClient(running.urls.mongo)
  try {
    const database = client.db(running.database)
    const names = (await database.listCollections({ type: 'collection' }).toArray()).map(({ name }) => name).sort()
    const lists = await Promise.all(
      names.map(name => database.collection(name).find({}, { promoteValues: false }).toArray()),
    )
    return Object.fromEntries(
      names.flatMap((name, index) =>
        // The ids of schemas are those of one registry.
        lists[index]?.length === 0 || name === 'schema_ids'
          ? []
          : [[name, (lists[index] ?? []).map(document => BSON.EJSON.serialize(document, { relaxed: false }))]],
      ),
    )
  } finally {
    await client.close()
  }
}

interface Unread {
  topic: string
  key: string | null
  /** The JSON of the message, without the id of its schema. */
  json: string
  headers: Record<string, string>
}

async function readUnread({ urls }: Product): Promise<Unread[]> {
  const logger = createLogger('release-data', 'silent')
  const brokers = urls.kafka.split(',')
  const admin = createTopicAdmin({ brokers, clientId: 'release-data', logger })
  await admin.connect()
  const unread: Unread[] = []
  for (const [topic, group] of Object.entries(UNREAD)) {
    const committed = await admin.committed(PREFIX + group, PREFIX + topic)
    for (const message of await readAll(brokers, PREFIX + topic)) {
      if (BigInt(message.offset) >= (committed.get(message.partition) ?? 0n)) unread.push({ topic, ...message.content })
    }
  }
  await admin.stop()
  return unread
}

async function readAll(brokers: string[], topic: string) {
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  const wanted = (await admin.fetchTopicOffsets(topic)).reduce((sum, { high }) => sum + Number(high), 0)
  await admin.disconnect()
  const found: { partition: number; offset: string; content: Omit<Unread, 'topic'> }[] = []
  const consumer = kafka.consumer({ groupId: `release-data-${topic}` })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ partition, message }) => {
      const headers = Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)])
      const json = message.value?.subarray(FRAME_BYTES).toString('utf8') ?? ''
      const key = message.key?.toString('utf8') ?? null
      found.push({ partition, offset: message.offset, content: { key, json, headers: Object.fromEntries(headers) } })
    },
  })
  await until(`the messages of ${topic}`, () => found.length >= wanted, { timeoutMs: 60_000 })
  await consumer.disconnect()
  return found
}
