/**
 * The minimal program that delivers: consume, insertMany, post, one bulkWrite, commit. It has no retry, signature,
 * order, address check, health or metrics. Batch size, write concern, documents and concurrency are the notifier's, so
 * the difference is the cost of the notifier itself.
 */

import { webhookBody } from '@backstop/channels'
import type { DeliveryDocument, DeliveryRequest } from '@backstop/contracts'
import kafkajs, { type EachBatchPayload, type KafkaMessage } from 'kafkajs'
import { MongoClient } from 'mongodb'
import { Pool } from 'undici'
import { newDelivery } from '../../services/notifier/src/delivery-record/delivery-store.ts'
import { reportCpuTime } from '../frame/children.ts'

const { BROKERS = '', TOPIC = '', MONGO = '', DB = '', RECEIVER = '', CONCURRENCY = '' } = process.env
const BATCH = 500
const WIRE_PREFIX_BYTES = 5

const mongo = new MongoClient(MONGO, { writeConcern: { w: 'majority', journal: true }, maxPoolSize: 20 })
const deliveries = mongo.db(DB).collection<DeliveryDocument>('deliveries')
const pool = new Pool(RECEIVER, { connections: Number(CONCURRENCY), pipelining: 1 })
const kafka = new kafkajs.Kafka({
  brokers: BROKERS.split(','),
  clientId: 'bare-loop',
  logLevel: kafkajs.logLevel.ERROR,
})
const consumer = kafka.consumer({
  groupId: `${TOPIC}.bare-loop`,
  maxWaitTimeInMs: 250,
  maxBytesPerPartition: 2 * 1_048_576,
})

async function post({ delivery_id, alert }: DeliveryRequest) {
  const at = new Date()
  const headers = { 'content-type': 'application/json', 'webhook-id': delivery_id }
  const answer = await pool.request({ path: '/bare', method: 'POST', headers, body: webhookBody(alert) })
  const response = await answer.body.text()
  const row = { attempt: 1, at, duration_ms: Date.now() - at.getTime(), outcome: 'delivered' as const, error: null }
  return { delivery_id, record: { ...row, status: answer.statusCode, response } }
}

async function deliver(messages: readonly KafkaMessage[]): Promise<void> {
  const requests = messages.map(
    ({ value }) => JSON.parse(value!.subarray(WIRE_PREFIX_BYTES).toString()) as DeliveryRequest,
  )
  await deliveries.insertMany(
    requests.map(request => newDelivery(request, 'webhook', Date.now())),
    { ordered: false },
  )
  const posted = await Promise.all(requests.map(post))
  await deliveries.bulkWrite(
    posted.map(({ delivery_id, record }) => ({
      updateOne: {
        filter: { _id: delivery_id },
        update: {
          $set: { state: 'delivered' as const, reason: 'Delivered', next_attempt: null, updated_at: new Date() },
          $push: { attempts: record },
        },
      },
    })),
    { ordered: false },
  )
}

async function eachBatch(payload: EachBatchPayload) {
  const { batch, resolveOffset, commitOffsetsIfNecessary, uncommittedOffsets, heartbeat } = payload
  for (let start = 0; start < batch.messages.length; start += BATCH) {
    const messages = batch.messages.slice(start, start + BATCH)
    await deliver(messages)
    resolveOffset(messages.at(-1)!.offset)
    await commitOffsetsIfNecessary(uncommittedOffsets())
    await heartbeat()
  }
}

reportCpuTime()
await consumer.connect()
await consumer.subscribe({ topic: TOPIC, fromBeginning: true })
await consumer.run({ autoCommit: false, partitionsConsumedConcurrently: 4, eachBatch })
process.once('SIGTERM', () => void consumer.disconnect().then(() => process.exit(0)))
