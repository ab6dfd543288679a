/** Reads everything that a product leaves behind, as bytes: the database, the topics and the logs. */
import { readFileSync } from 'node:fs'
import { until } from '@backstop/kit/test'
import { Kafka, logLevel } from 'kafkajs'
import type { MongoClient } from 'mongodb'
import type { Product } from '../../scripts/start/product.ts'

/** Texts by the name of their place. Each character is one byte. */
export type Traces = ReadonlyMap<string, string>

const textOf = (parts: readonly Uint8Array[]) => Buffer.concat(parts).toString('latin1')

/** The BSON bytes of every document, by collection. */
export async function readDatabase(database: ReturnType<MongoClient['db']>): Promise<Traces> {
  const names = (await database.listCollections().toArray()).map(({ name }) => name)
  const texts = names.map(async name => {
    const documents = await database.collection(name).find({}, { raw: true }).toArray()
    return [name, textOf(documents as unknown as Uint8Array[])] as const
  })
  return new Map(await Promise.all(texts))
}

/** Keys, values and headers of every message that Kafka has, decompressed, by topic. */
export async function readTopics({ urls, topicPrefix }: Pick<Product, 'urls' | 'topicPrefix'>): Promise<Traces> {
  const kafka = new Kafka({ brokers: urls.kafka.split(','), clientId: 'traces', logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  const consumer = kafka.consumer({ groupId: `${topicPrefix}traces-${Date.now()}` })
  try {
    await Promise.all([admin.connect(), consumer.connect()])
    const topics = (await admin.listTopics()).filter(topic => topic.startsWith(topicPrefix))
    /** The last offset of each partition that was not read yet. */
    const unread = new Map<string, number>()
    for (const topic of topics) {
      for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
        if (Number(high) > Number(low)) unread.set(`${topic}/${partition}`, Number(high) - 1)
      }
    }
    const messages = new Map(topics.map(topic => [topic, [] as Uint8Array[]]))
    await consumer.subscribe({ topics, fromBeginning: true })
    await consumer.run({
      async eachMessage({ topic, partition, message: { key, value, headers = {}, offset } }) {
        const fields = Object.entries(headers).flatMap(([name, text]) => [name, ...[text ?? []].flat()])
        const parts = [...fields, ...[key, value].filter(part => part !== null)]
        messages.get(topic)?.push(...parts.map(part => Buffer.from(part as string)))
        const place = `${topic}/${partition}`
        if (Number(offset) >= (unread.get(place) ?? Number.POSITIVE_INFINITY)) unread.delete(place)
      },
    })
    const seen = () => Object.fromEntries(unread)
    await until('every message', () => unread.size === 0, { timeoutMs: 120_000, everyMs: 100, seen })
    return new Map([...messages].map(([topic, parts]) => [topic.slice(topicPrefix.length), textOf(parts)]))
  } finally {
    await Promise.all([admin.disconnect(), consumer.disconnect()])
  }
}

/** The logs of all processes, by service. */
export function readLogs(product: Pick<Product, 'processes'>): Traces {
  return new Map(product.processes().map(({ name, logPath }) => [name, readFileSync(logPath, 'latin1')]))
}
