import { TOPICS, type TopicName } from '@backstop/contracts'
import { createKafkaBus } from '@backstop/kit/bus'
import { createLogger } from '@backstop/kit/logger'
import { until } from '@backstop/kit/test'
import type { Product } from '../../../scripts/start/product.ts'
import { openInspector, type ProductInspector } from '../../setup/product-inspector.ts'
import type { Stored } from '../judge/evidence.ts'

/** Reads everything that MongoDB and Kafka hold of a product at rest. */
export async function readStored(product: Product): Promise<Stored[]> {
  const inspector = await openInspector(product)
  try {
    return [...(await readDocuments(inspector)), ...(await readMessages(product, inspector))]
  } finally {
    await inspector.stop()
  }
}

async function readDocuments({ database }: ProductInspector): Promise<Stored[]> {
  const names = (await database.listCollections().toArray()).map(({ name }) => name)
  const collections = names.map(async place => {
    const documents = await database.collection(place).find().toArray()
    return documents.map(document => ({ place, text: JSON.stringify(document) }))
  })
  return (await Promise.all(collections)).flat()
}

async function readMessages({ urls, topicPrefix }: Product, inspector: ProductInspector): Promise<Stored[]> {
  const topics = Object.keys(TOPICS) as TopicName[]
  const counts = await Promise.all(topics.map(topic => inspector.count(topic)))
  const total = counts.reduce((sum, count) => sum + count, 0)
  const logger = createLogger('simulation', 'silent', process.stderr)
  const bus = createKafkaBus({ brokers: urls.kafka.split(','), clientId: 'simulation', topicPrefix, logger })
  const got: Stored[] = []
  const consumer = bus.consumer({
    groupId: 'simulation.judge',
    topics,
    commit: 'accepted',
    async onBatch({ messages }) {
      for (const { topic, value } of messages) got.push({ place: topic, text: value?.toString('latin1') ?? '' })
      return { accepted: messages.length }
    },
    onFatal() {},
  })
  await consumer.start()
  try {
    await until('all messages', () => got.length >= total, {
      timeoutMs: 60_000,
      seen: () => `${got.length} of ${total}`,
    })
    return got
  } finally {
    await consumer.stop()
  }
}
