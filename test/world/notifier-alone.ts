/** A notifier as it runs in production, alone: its process, its topics and database, its channels. For benchmarks, too. */
import { join } from 'node:path'
import type { Alert, ChannelDocument, DeliveryDocument, DeliveryRequest } from '@backstop/contracts'
import {
  connectMongo,
  createKafkaBus,
  createLogger,
  createMongoSchemaIds,
  createRegistryCodec,
  type OutgoingMessage,
  Secret,
} from '@backstop/kit'
import { until } from '@backstop/kit/test'
import type { StackUrls } from '@backstop/stack'
import { startProduct } from '../../scripts/start/product.ts'

/** The key of the notifier's fixtures' secret box, in which channels' secrets are sealed. */
const SECRET_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`
/** Messages of one send. */
const SEND_AT_ONCE = 1_000

export interface NotifierAlone {
  readonly topicPrefix: string
  readonly database: string
  /** Starts the notifier's process and waits until it is ready. */
  start(): Promise<void>
  /** Milliseconds of processor time that it has used so far. */
  cpuMs(): Promise<number>
  /** Bytes of memory that it holds now. */
  memoryBytes(): Promise<number>
  /** Drains and ends it. */
  stop(): Promise<void>
  putChannels(channels: readonly ChannelDocument[]): Promise<void>
  publish(alerts: readonly Alert[]): Promise<void>
  request(requests: readonly DeliveryRequest[]): Promise<void>
  /** How many deliveries to the channel are on record, in whatever state. */
  recordedFor(channelId: string): Promise<number>
  /** Resolves when so many deliveries more than at the last call are on record as delivered. @throws Error otherwise */
  expectDelivered(more: number): Promise<void>
  close(): Promise<void>
}

export async function openNotifierAlone(
  name: string,
  { stack, folder }: { stack: StackUrls; folder: string },
): Promise<NotifierAlone> {
  const product = await startProduct({
    dataDir: join(folder, name),
    env: process.env,
    stackUrls: stack,
    topicPrefix: `${name}-${Date.now().toString(36)}.`,
    serviceEnv: { notifier: { SECRET_KEYS } },
    only: [],
  })
  const { topicPrefix, database, children } = product
  const logger = createLogger('notifier-alone', 'warn', process.stderr)
  const mongo = connectMongo({ url: new Secret(stack.mongo), dbName: database, appName: 'notifier-alone' })
  const bus = createKafkaBus({ brokers: stack.kafka.split(','), clientId: 'notifier-alone', topicPrefix, logger })
  const schemaIds = createMongoSchemaIds(mongo.db)
  const codec = await createRegistryCodec({ registryUrl: stack.registry, topicPrefix, schemaIds, logger })
  const producer = bus.producer({ sendTimeoutMs: 30_000 })
  await producer.start()
  const send = async (messages: readonly OutgoingMessage[]) => {
    for (let at = 0; at < messages.length; at += SEND_AT_ONCE)
      await producer.send(messages.slice(at, at + SEND_AT_ONCE))
  }
  const metric = async (name: string) => {
    const metrics = await (await fetch(`${children.notifier.opsUrl}/metrics`)).text()
    return Number(new RegExp(`^${name}(?:{.*})? (\\S+)`, 'm').exec(metrics)?.[1])
  }
  const deliveries = mongo.db.collection<DeliveryDocument>('deliveries')
  let delivered = 0
  return {
    topicPrefix,
    database,
    async start() {
      children.notifier.start()
      await children.notifier.untilReady()
    },
    cpuMs: async () => (await metric('process_cpu_seconds_total')) * 1_000,
    memoryBytes: () => metric('process_resident_memory_bytes'),
    stop: () => children.notifier.stop(30_000),
    async putChannels(channels) {
      await mongo.db.collection<ChannelDocument>('channels').insertMany([...channels])
    },
    publish: alerts =>
      send(
        alerts.map(one => ({ topic: 'alerts', key: one.project_id, value: codec.encode('alert', one), headers: {} })),
      ),
    request: requests =>
      send(
        requests.map(one => ({
          topic: 'deliveries',
          key: one.channel_id,
          value: codec.encode('delivery-request', one),
          headers: {},
        })),
      ),
    recordedFor: channel_id => deliveries.countDocuments({ channel_id }),
    async expectDelivered(more) {
      delivered += more
      const count = () => deliveries.countDocuments({ state: 'delivered' })
      await until(`${delivered} deliveries are on record`, async () => (await count()) === delivered, {
        everyMs: 100,
        timeoutMs: 120_000,
        seen: () => ({ topicPrefix }),
      })
    },
    async close() {
      await Promise.all([producer.stop(), mongo.db.dropDatabase()])
      await Promise.all([mongo.stop(), product.stop()])
    },
  }
}
