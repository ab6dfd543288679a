/** A reconciler as it runs in production, alone: its process, its topics and database, its connections. */
import { join } from 'node:path'
import type { ConnectionDocument } from '@backstop/contracts'
import {
  connectMongo,
  createKafkaBus,
  createLogger,
  createMongoSchemaIds,
  createRegistryCodec,
  type Mongo,
  Secret,
} from '@backstop/kit'
import kafkajs from 'kafkajs'
import { startProduct } from '../../scripts/start/product.ts'
import { touchOfOperation } from '../../services/reconciler/src/consumers/work-item.ts'
import { Workspace } from '../../services/reconciler/src/consumers/workspace.ts'
import { createMongoSubjects } from '../../services/reconciler/src/store/mongo-subjects.ts'
import type { BenchSurroundings } from '../frame/benchmark.ts'
import { type BenchRefund, benchConnections, benchEvent, benchKey, benchOperation } from './load.ts'

/** Messages of one send, subjects of one write. */
const AT_ONCE = 1_000

export interface ReconcilerWorld {
  readonly topicPrefix: string
  readonly mongo: Mongo
  /** Starts the reconciler's process and waits until it is ready. */
  start(): Promise<void>
  /** Milliseconds of processor time that it has used so far, and bytes of memory that it holds. */
  usage(): Promise<{ cpuMs: number; residentBytes: number }>
  /** Drains and ends it. */
  stop(): Promise<void>
  /** Makes known what the team's own software did: the operations of those refunds that are explained. */
  report(refunds: readonly BenchRefund[]): Promise<void>
  /** Puts the events on their topic. */
  tell(refunds: readonly BenchRefund[]): Promise<void>
  /** How many events a group has committed since the world was opened. @param group without the prefix */
  committed(group: string): Promise<number>
  /** How many messages a topic holds. @param topic without the prefix */
  count(topic: string): Promise<number>
  close(): Promise<void>
}

export async function openWorld(
  name: string,
  { stack, folder }: BenchSurroundings,
  { recheckDelayMs }: { recheckDelayMs: number },
): Promise<ReconcilerWorld> {
  const product = await startProduct({
    dataDir: join(folder, name),
    env: process.env,
    stackUrls: stack,
    topicPrefix: `bench-${name}-${Date.now().toString(36)}.`,
    recheckDelayMs,
    only: [],
  })
  const { topicPrefix, database, children } = product
  const logger = createLogger('bench', 'warn', process.stderr)
  const mongo = connectMongo({ url: new Secret(stack.mongo), dbName: database, appName: 'bench' })
  const brokers = stack.kafka.split(',')
  const bus = createKafkaBus({ brokers, clientId: 'bench', topicPrefix, logger })
  const schemaIds = createMongoSchemaIds(mongo.db)
  const codec = await createRegistryCodec({ registryUrl: stack.registry, topicPrefix, schemaIds, logger })
  const producer = bus.producer({ sendTimeoutMs: 30_000 })
  await producer.start()
  const admin = new kafkajs.Kafka({ brokers, clientId: 'bench', logLevel: kafkajs.logLevel.NOTHING }).admin()
  await admin.connect()
  const subjects = createMongoSubjects(mongo, () => 'bench')
  await mongo.db.collection<ConnectionDocument>('connections').insertMany(benchConnections())
  return {
    topicPrefix,
    mongo,
    async start() {
      children.reconciler.start()
      await children.reconciler.untilReady()
    },
    async usage() {
      const metrics = await (await fetch(`${children.reconciler.opsUrl}/metrics`)).text()
      const gauge = (name: string) => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)`, 'm').exec(metrics)?.[1])
      return {
        cpuMs: gauge('process_cpu_seconds_total') * 1_000,
        residentBytes: gauge('process_resident_memory_bytes'),
      }
    },
    stop: () => children.reconciler.stop(30_000),
    async report(refunds) {
      const explained = refunds.filter(({ isExplained }) => isExplained)
      for (let at = 0; at < explained.length; at += AT_ONCE) {
        const workspace = new Workspace([], { recheckDelayMs })
        for (const refund of explained.slice(at, at + AT_ONCE)) {
          const facts = { policies: new Map(), expectedChanges: [], targetsOf: () => [] }
          workspace.apply(touchOfOperation(benchOperation(refund))!, facts, Date.now())
        }
        await subjects.save(workspace.outcomes().flatMap(({ change }) => change ?? []))
      }
    },
    async tell(refunds) {
      for (let at = 0; at < refunds.length; at += AT_ONCE) {
        await producer.send(
          refunds.slice(at, at + AT_ONCE).map(refund => ({
            topic: 'inbound.processor',
            key: benchKey(refund),
            value: codec.encode('inbound-event', benchEvent(refund)),
            headers: {},
          })),
        )
      }
    },
    async committed(group) {
      const topics = [`${topicPrefix}inbound.processor`]
      const [topic] = await admin.fetchOffsets({ groupId: topicPrefix + group, topics })
      return (topic?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0)
    },
    async count(topic) {
      const offsets = await admin.fetchTopicOffsets(topicPrefix + topic)
      return offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0)
    },
    async close() {
      await Promise.all([producer.stop(), admin.disconnect(), mongo.db.dropDatabase()])
      await Promise.all([mongo.stop(), product.stop()])
    },
  }
}
