/** A reconciler process without the other services, and the connections of the refunds of refunds.ts. */
import type { ConnectionDocument } from '@backstop/contracts'
import { writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { StackUrls } from '@backstop/stack'
import kafkajs from 'kafkajs'
import { connectionsOfRefunds, eventOf, keyOf, operationOf, type Refund } from './refunds.ts'
import { openServiceAlone, type ServiceAlone } from './service-alone.ts'
import { storeOperations } from './store-operations.ts'

export interface ReconcilerAlone extends ServiceAlone {
  /** Stores the operations of the explained refunds, as if they had been reported. */
  report(refunds: readonly Refund[]): Promise<void>
  /** Publishes the events of the refunds. @param headersOf the headers of the event with this index; none by default */
  publishEvents(
    refunds: readonly Refund[],
    headersOf?: (index: number) => Record<string, string>,
    /** The connected account of each event. */
    accountOf?: (index: number) => string,
  ): Promise<void>
  /** The number of events of refunds that a consumer group has committed. @param group without the prefix */
  committed(group: string): Promise<number>
  /** The number of messages on a topic. @param topic without the prefix */
  count(topic: string): Promise<number>
}

export interface ReconcilerAloneOptions {
  readonly name: string
  readonly stack: StackUrls
  readonly folder: string
  /** Milliseconds until the second look. */
  readonly recheckDelayMs: number
  /** More settings of the process. */
  readonly env?: Record<string, string>
  /** The number of billing connections. */
  readonly connections?: number
  readonly isKept?: boolean
}

export async function openReconcilerAlone(options: ReconcilerAloneOptions): Promise<ReconcilerAlone> {
  const { stack, recheckDelayMs } = options
  const env = { ...options.env, RECHECK_DELAY_MS: String(recheckDelayMs) }
  const alone = await openServiceAlone('reconciler', { ...options, env })
  const { topicPrefix, mongo, codec } = alone
  // The services log their own retries.
  const kafka = new kafkajs.Kafka({ brokers: stack.kafka.split(','), logLevel: kafkajs.logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  const connections = connectionsOfRefunds(options.connections)
  const insert = () =>
    mongo.db.collection<ConnectionDocument>('connections').insertMany(connections, { ordered: false })
  await writeIgnoringDuplicates(insert, connections.length)
  return {
    ...alone,
    report: refunds =>
      storeOperations(
        mongo.db,
        refunds.filter(({ isExplained }) => isExplained).map(refund => operationOf(refund)),
      ),
    publishEvents: (refunds, headersOf = () => ({}), accountOf) =>
      alone.send(
        refunds.map((refund, index) => ({
          topic: 'inbound.processor',
          key: keyOf(refund),
          value: codec.encode('inbound-event', eventOf(refund, accountOf?.(index))),
          headers: headersOf(index),
        })),
      ),
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
      await admin.disconnect()
      await alone.close()
    },
  }
}
