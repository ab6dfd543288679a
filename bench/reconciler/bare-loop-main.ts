/**
 * The minimal program that writes like the reconciler: consume, bulk-write as many documents of the same size into the
 * same collections, produce as many messages, commit. It decodes, loads, decides and checks nothing. Batch size, write
 * concern and indexes are the reconciler's, so the difference is the cost of the reconciler itself.
 */
import kafkajs, { type EachBatchPayload, type KafkaMessage } from 'kafkajs'
import { MongoClient } from 'mongodb'
import { isUnexplained } from '../../test/setup/refunds.ts'
import { reportCpuTime } from '../frame/children.ts'
import { COLLECTIONS, copyFor, type Sample, sampleDocuments } from './samples.ts'

const { BROKERS = '', PREFIX = '', MONGO = '', DB = '', RECONCILER_DB = '' } = process.env
const BATCH = 1_000

const client = new MongoClient(MONGO, {
  writeConcern: { w: 'majority', journal: true },
  retryWrites: false,
  maxPoolSize: 20,
})
const kafka = new kafkajs.Kafka({
  brokers: BROKERS.split(','),
  clientId: 'bare-loop',
  logLevel: kafkajs.logLevel.ERROR,
})
const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner })
const consumer = kafka.consumer({
  groupId: `${PREFIX}bare-loop`,
  maxWaitTimeInMs: 250,
  maxBytesPerPartition: 2 * 1_048_576,
  maxBytes: 16 * 1_048_576,
})
// Documents that the reconciler wrote for one event. The loop writes them again with other ids.
const samples = await sampleDocuments(client.db(RECONCILER_DB))
const recheck = Buffer.from(JSON.stringify({ ref: samples.subjects.current?.[0].refs[0], of: samples.actions._id }))

async function reconcile(messages: readonly KafkaMessage[]): Promise<void> {
  const keys = messages.map(({ key }) => key!.toString())
  const writes = COLLECTIONS.map(name => {
    const documents = keys.map(key => copyFor(key, samples[name]))
    return client.db(DB).collection<Sample>(name).insertMany(documents, { ordered: false })
  })
  await Promise.all(writes)
  const rechecks = keys.filter(isUnexplained).map(key => ({ key, value: recheck }))
  await producer.send({ topic: `${PREFIX}rechecks`, acks: -1, messages: rechecks })
}

async function eachBatch({ batch, resolveOffset, uncommittedOffsets, ...payload }: EachBatchPayload) {
  for (let start = 0; start < batch.messages.length; start += BATCH) {
    const messages = batch.messages.slice(start, start + BATCH)
    await reconcile(messages)
    resolveOffset(messages.at(-1)!.offset)
    await payload.commitOffsetsIfNecessary(uncommittedOffsets())
    await payload.heartbeat()
  }
}

reportCpuTime()
await Promise.all([producer.connect(), consumer.connect()])
await consumer.subscribe({ topic: `${PREFIX}inbound.processor`, fromBeginning: true })
await consumer.run({ autoCommit: false, partitionsConsumedConcurrently: 4, eachBatch })
process.once('SIGTERM', () => void consumer.disconnect().then(() => process.exit(0)))
