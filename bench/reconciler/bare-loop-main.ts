/**
 * The least that could be called reconciling: consume, insert as many documents of the same size into the same collections,
 * produce as many messages, commit. No event is decoded, nothing is loaded, decided or checked, and no document is updated:
 * an insert is the fastest write there is. With the reconciler's batch size, write concern and indexes it shows what the
 * parts around the reconciler allow, and so what the reconciler itself costs.
 */
import kafkajs, { type EachBatchPayload, type KafkaMessage } from 'kafkajs'
import { MongoClient } from 'mongodb'
import { isUnexplained } from '../../test/world/refunds.ts'
import { tellCpuTime } from '../frame/children.ts'

const { BROKERS = '', PREFIX = '', MONGO = '', DB = '', RECONCILER_DB = '' } = process.env
const BATCH = 500

interface Stored {
  _id: string
  refs?: readonly string[]
}

const client = new MongoClient(MONGO, { writeConcern: { w: 'majority', journal: true }, maxPoolSize: 20 })
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
// What the reconciler wrote of one event, to be written again under other ids.
const samples = await Promise.all(
  ['subjects', 'actions', 'inbox', 'inbox_bodies'].map(async name => {
    const sample = (await client.db(RECONCILER_DB).collection<Stored>(name).findOne())!
    return { sample, collection: client.db(DB).collection<Stored>(name) }
  }),
)
const recheck = Buffer.from(JSON.stringify({ ref: samples[0]!.sample.refs?.[0], of: samples[1]!.sample._id }))

function copyFor(key: string, { refs, ...sample }: Stored): Stored {
  const copy = { ...sample, _id: key }
  return refs === undefined ? copy : { ...copy, refs: refs.map((_, index) => `${key}/${index}`) }
}

async function reconcile(messages: readonly KafkaMessage[]): Promise<void> {
  const keys = messages.map(({ key }) => key!.toString())
  const writes = samples.map(({ collection, sample }) =>
    collection.insertMany(
      keys.map(key => copyFor(key, sample)),
      { ordered: false },
    ),
  )
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

tellCpuTime()
await Promise.all([producer.connect(), consumer.connect()])
await consumer.subscribe({ topic: `${PREFIX}inbound.processor`, fromBeginning: true })
await consumer.run({ autoCommit: false, partitionsConsumedConcurrently: 4, eachBatch })
process.once('SIGTERM', () => void consumer.disconnect().then(() => process.exit(0)))
