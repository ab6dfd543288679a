/** Reads the state of the broker and the database without the product's code. */
import { until } from '@backstop/kit/test'
import { Kafka, logLevel } from 'kafkajs'
import { MongoClient } from 'mongodb'
import type { Product } from '../../scripts/start/product.ts'

/**
 * The topics of each consumer group. The list does not come from the groups' commits, because a group without commits must be
 * behind on all messages, also if its name is misspelt.
 */
export const TOPICS_OF_GROUP = {
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

/** The path of the outbox in the documents of each collection with outboxes. */
const OUTBOXES = {
  subjects: 'current.outbox',
  operations: 'outbox',
  channel_health: 'outbox',
  storms: 'outbox',
} as const

export interface ProductInspector {
  /**
   * Resolves when nothing is in flight: all outboxes are empty, and all consumer groups have committed all messages. Both must be
   * true in two checks in a row, because a message may move to a topic that the first check has already read.
   */
  untilIdle(withinMs: number): Promise<void>
  /** The number of messages on a topic. */
  count(topic: string): Promise<number>
  produce(topic: string, key: string, value: Buffer): Promise<void>
  /** Removes the topics and the database. The product must have stopped, and its prefix must not be empty. */
  removeEverything(): Promise<void>
  database: ReturnType<MongoClient['db']>
  stop(): Promise<void>
}

/**
 * Connects to the broker and the database of a product.
 * @param groups the consumer groups of `untilIdle`, with their topics
 */
export async function openInspector(
  product: Product,
  groups: Readonly<Record<string, readonly string[]>> = TOPICS_OF_GROUP,
): Promise<ProductInspector> {
  const kafka = new Kafka({ brokers: product.urls.kafka.split(','), clientId: 'inspector', logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  await admin.connect()
  await producer.connect()
  const client = new MongoClient(product.urls.mongo)
  const database = client.db(product.database)
  const name = (plain: string) => `${product.topicPrefix}${plain}`
  const ends = async (topic: string) => new Map((await admin.fetchTopicOffsets(topic)).map(at => [at.partition, at]))

  /** The numbers of messages that the product's consumer groups have not committed, by group, topic and partition. */
  async function countUncommitted(): Promise<Record<string, number>> {
    const behind: Record<string, number> = {}
    for (const [group, topics] of Object.entries(groups)) {
      for (const { topic, partitions } of await admin.fetchOffsets({
        groupId: name(group),
        topics: topics.map(name),
      })) {
        const committed = new Map(partitions.map(({ partition, offset }) => [partition, Number(offset)]))
        for (const [partition, { high, low }] of await ends(topic)) {
          const count = Number(high) - Math.max(Number(low), committed.get(partition) ?? 0)
          if (count > 0) behind[`${group} ${topic}/${partition}`] = count
        }
      }
    }
    return behind
  }

  /** The number of documents with an outbox entry. */
  async function countUnpublished(): Promise<number> {
    const counts = await Promise.all(
      Object.entries(OUTBOXES).map(([name, outbox]) =>
        database.collection(name).countDocuments({ [`${outbox}.0`]: { $exists: true } }),
      ),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }

  return {
    async untilIdle(withinMs) {
      let seen = {}
      let timesInARow = 0
      const checkIdle = async () => {
        const [unpublished, behind] = [await countUnpublished(), await countUncommitted()]
        seen = { unpublished, behind }
        const isIdle = unpublished === 0 && Object.keys(behind).length === 0
        timesInARow = isIdle ? timesInARow + 1 : 0
        return timesInARow === 2
      }
      await until('the product to be idle', checkIdle, { timeoutMs: withinMs, everyMs: 100, seen: () => seen })
    },
    async count(topic) {
      return [...(await ends(name(topic))).values()].reduce((sum, at) => sum + Number(at.high) - Number(at.low), 0)
    },
    async produce(topic, key, value) {
      await producer.send({ topic: name(topic), acks: -1, messages: [{ key, value }] })
    },
    async removeEverything() {
      const { topicPrefix } = product
      if (topicPrefix === '') throw new Error('Without a prefix, these would be the topics of everybody')
      // Repeated, because kafkajs reports a failure when it asks for the leaders of topics that are being deleted.
      await until('the topics to be deleted', async () => {
        const topics = (await admin.listTopics()).filter(topic => topic.startsWith(topicPrefix))
        if (topics.length > 0) await admin.deleteTopics({ topics })
        return topics.length === 0
      })
      await database.dropDatabase()
    },
    database,
    async stop() {
      await Promise.all([admin.disconnect(), producer.disconnect(), client.close()])
    },
  }
}
