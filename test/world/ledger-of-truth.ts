/** What the broker and the database say, read past the product's own code. */
import { Kafka, logLevel } from 'kafkajs'
import { MongoClient } from 'mongodb'
import type { Product } from '../../scripts/start/product.ts'

export interface Truth {
  /** Messages behind what the product's groups have committed, over all of their topics but the delay lines. */
  lag(groups: readonly string[]): Promise<number>
  /** How many messages a topic holds. */
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
  const name = (plain: string) => `${product.topicPrefix}${plain}`
  const ends = async (topic: string) => new Map((await admin.fetchTopicOffsets(topic)).map(at => [at.partition, at]))
  return {
    async lag(groups) {
      let behind = 0
      for (const group of groups) {
        for (const { topic, partitions } of await admin.fetchOffsets({ groupId: name(group) })) {
          const end = await ends(topic)
          for (const { partition, offset } of partitions) {
            const high = Number(end.get(partition)?.high ?? 0)
            behind += high - Math.max(0, Number(offset))
          }
        }
      }
      return behind
    },
    async count(topic) {
      return [...(await ends(name(topic))).values()].reduce((sum, at) => sum + Number(at.high) - Number(at.low), 0)
    },
    async produce(topic, key, value) {
      await producer.send({ topic: name(topic), acks: -1, messages: [{ key, value }] })
    },
    database: client.db(product.database),
    async stop() {
      await Promise.all([admin.disconnect(), producer.disconnect(), client.close()])
    },
  }
}
