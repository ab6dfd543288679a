/** Reads the state of the broker and the database without the product's code. */
import { until } from '@backstop/kit/test'
import { Kafka, logLevel } from 'kafkajs'
import { MongoClient } from 'mongodb'
import type { Product } from '../../scripts/start/product.ts'

/**
 * The topics of each consumer group. They are repeated here, so that a group without commits counts as behind on all messages, and
 * a misspelt group name does not count as caught up.
 */
const TOPICS_OF_GROUP = {
  'reconciler.rechecks': ['rechecks'],
  'notifier.retry.5s': ['deliveries.retry.5s'],
  reconciler: [
    'inbound.processor',
    'inbound.reseller',
    'inbound.subscription',
    'operations',
    'rechecks.due',
    'readbacks',
  ],
  'reconciler.rereads': ['rereads'],
  'reconciler.rereads.retry': ['rereads.retry'],
  'reconciler.commands': ['commands'],
  notifier: ['alerts'],
  'notifier.deliveries': ['deliveries'],
} as const

/** Collections whose documents have an outbox, and the path of the outbox. */
const OUTBOXES = { subjects: 'current.outbox', operations: 'outbox' } as const

export interface Truth {
  /**
   * Resolves when nothing is on its way any more: no outbox holds anything, and no group has anything left to read or to
   * hold back. Twice in a row, since a message may go round behind a first look.
   */
  untilAtRest(withinMs: number): Promise<void>
  /** The number of messages on a topic. */
  count(topic: string): Promise<number>
  produce(topic: string, key: string, value: Buffer): Promise<void>
  database: ReturnType<MongoClient['db']>
  stop(): Promise<void>
}

export async function openTruth(product: Product): Promise<Truth> {
  const kafka = new Kafka({ brokers: product.urls.kafka.split(','), clientId: 'truth', logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  await admin.connect()
  await producer.connect()
  const client = new MongoClient(product.urls.mongo)
  const database = client.db(product.database)
  const name = (plain: string) => `${product.topicPrefix}${plain}`
  const ends = async (topic: string) => new Map((await admin.fetchTopicOffsets(topic)).map(at => [at.partition, at]))

  /** Messages that the product's groups have not committed yet. */
  async function lag(): Promise<number> {
    let behind = 0
    for (const [group, topics] of Object.entries(TOPICS_OF_GROUP)) {
      for (const { topic, partitions } of await admin.fetchOffsets({
        groupId: name(group),
        topics: topics.map(name),
      })) {
        const committed = new Map(partitions.map(({ partition, offset }) => [partition, Number(offset)]))
        for (const [partition, { high, low }] of await ends(topic)) {
          behind += Number(high) - Math.max(Number(low), committed.get(partition) ?? 0)
        }
      }
    }
    return behind
  }

  async function unpublished(): Promise<number> {
    const counts = await Promise.all(
      Object.entries(OUTBOXES).map(([name, outbox]) =>
        database.collection(name).countDocuments({ [`${outbox}.0`]: { $exists: true } }),
      ),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }

  return {
    async untilAtRest(withinMs) {
      let seen = {}
      let timesInARow = 0
      const look = async () => {
        seen = { unpublished: await unpublished(), behind: await lag() }
        const isAtRest = Object.values(seen).every(count => count === 0)
        timesInARow = isAtRest ? timesInARow + 1 : 0
        return timesInARow === 2
      }
      await until('the product to come to rest', look, { timeoutMs: withinMs, everyMs: 100, seen: () => seen })
    },
    async count(topic) {
      return [...(await ends(name(topic))).values()].reduce((sum, at) => sum + Number(at.high) - Number(at.low), 0)
    },
    async produce(topic, key, value) {
      await producer.send({ topic: name(topic), acks: -1, messages: [{ key, value }] })
    },
    database,
    async stop() {
      await Promise.all([admin.disconnect(), producer.disconnect(), client.close()])
    },
  }
}
