import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { COLLECTIONS, MESSAGES, type MessageName, registrySubject, TOPICS, type TopicName } from '@backstop/contracts'
import { createMongoSchemaIds, createRegistryCodec } from '@backstop/kit/registry'
import { nodeEnvironment, type TestStack, testStack, until } from '@backstop/kit/test'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ProvisionOptions, provision } from './provision.ts'

let stack: TestStack
let client: MongoClient
beforeAll(async () => {
  stack = await testStack()
  client = new MongoClient(stack.mongoUrl.reveal())
})
afterAll(async () => {
  await client.close()
  await stack.close()
})

const db = () => client.db(stack.dbName)
const topicNames = () => (Object.keys(TOPICS) as TopicName[]).map(name => stack.topicPrefix + name)

async function run(changes: Partial<ProvisionOptions> = {}): Promise<string[]> {
  const lines: string[] = []
  await provision({
    kafka: stack.kafka(),
    topicPrefix: stack.topicPrefix,
    durability: { replication: 1, minInsync: 1 },
    mongo: { url: stack.mongoUrl, dbName: stack.dbName },
    registryUrl: stack.registryUrl,
    waitMs: 30_000,
    report: line => void lines.push(line),
    ...changes,
  })
  return lines
}

test('two jobs at once make everything that the services find at their start', async () => {
  await Promise.all([run(), run()])
  const topics = await stack.admin.describe(topicNames())
  expect(topics).toHaveLength(Object.keys(TOPICS).length)
  for (const { name, partitions, config } of topics) {
    const definition = TOPICS[name.slice(stack.topicPrefix.length) as TopicName]
    expect(partitions).toBe(definition.partitions)
    expect(config).toMatchObject({
      'cleanup.policy': definition.cleanup,
      'retention.ms': String(definition.retentionMs),
      'message.timestamp.type': definition.timestampType,
      'max.message.bytes': String(definition.maxMessageBytes),
      'unclean.leader.election.enable': 'false',
    })
  }
  for (const name of Object.keys(MESSAGES) as MessageName[]) {
    const answer = await fetch(`${stack.registryUrl}/config/${registrySubject(name, stack.topicPrefix)}`)
    expect(await answer.json()).toEqual({ compatibilityLevel: 'BACKWARD_TRANSITIVE' })
  }
  expect(await db().collection('schema_ids').countDocuments()).toBe(Object.keys(MESSAGES).length)
  for (const [name, { indexes }] of Object.entries(COLLECTIONS)) {
    expect(await db().collection(name).indexes()).toHaveLength(indexes.length + 1)
  }
  const { registryUrl, topicPrefix, logger } = stack
  const schemaIds = createMongoSchemaIds(db())
  const codec = await createRegistryCodec({ registryUrl, topicPrefix, schemaIds, logger, waitMs: 0 })
  expect(codec.schemaId('alert')).toBeGreaterThan(0)
})

test('a second run changes nothing and says so', async () => {
  const lines = await run()
  expect(lines).toContain(`topics: all ${Object.keys(TOPICS).length} are as they should be`)
  expect(lines.filter(line => /created|: registered/.test(line))).toEqual([])
})

test('an index that takes longer than other commands may take is waited for, and the job says how long it has taken', async () => {
  await run()
  await db().collection('storms').dropIndexes()
  // MongoDB makes an index when no transaction uses the collection.
  const session = client.startSession()
  session.startTransaction()
  await db().collection('storms').insertOne({}, { session })
  const lines: string[] = []
  const job = run({ report: line => void lines.push(line) })
  const isReported = () => lines.some(line => /^storms: index .* is still being built after 4\d s$/.test(line))
  await Promise.race([job, until('40 seconds', isReported, { timeoutMs: 55_000, everyMs: 500 })])
  expect(isReported()).toBe(true)
  await session.abortTransaction()
  await session.endSession()
  await job
  expect(await db().collection('storms').indexes()).toHaveLength(COLLECTIONS.storms.indexes.length + 1)
})

test('a topic that differs stops the job before it changes anything, and is named with both values', async () => {
  const failing = run({ durability: { replication: 3, minInsync: 2 } })
  await expect(failing).rejects.toMatchObject({ code: 'conflict' })
  await expect(failing).rejects.toThrow('operations: has 1 copies of each partition, wants 3')
  await expect(failing).rejects.toThrow('operations: min.insync.replicas is 1, should be 2')
})

test('an index that exists in another form is named', async () => {
  await db().collection('audit').dropIndex('at_1')
  await db().collection('audit').createIndex({ at: 1 }, { expireAfterSeconds: 60 })
  await expect(run()).rejects.toThrow(/audit \{"at":1\}: /)
  await db().collection('audit').dropIndex('at_1')
  await run()
})

test('large collections are compressed with zstd, and their indexes with snappy', async () => {
  await run()
  const compressorsOf = async (name: string) => {
    const stats = await db()
      .collection(name)
      .aggregate([{ $collStats: { storageStats: {} } }])
      .next()
    const compressorIn = (text: string) => /block_compressor=(\w*)/.exec(text)?.[1]
    const { wiredTiger, indexDetails } = stats!.storageStats
    return {
      documents: compressorIn(wiredTiger.creationString),
      ids: compressorIn(indexDetails._id_.creationString),
      byTime: compressorIn(indexDetails['received_at_-1__id_-1']?.creationString ?? ''),
    }
  }
  expect(await compressorsOf('inbox')).toEqual({ documents: 'zstd', ids: 'snappy', byTime: 'snappy' })
  expect(await compressorsOf('projects')).toMatchObject({ documents: 'snappy' })
})

test('collections and indexes of a version before compression are kept as they are', async () => {
  const inbox = db().collection('inbox')
  await inbox.drop()
  await db().createCollection('inbox')
  await inbox.createIndex({ received_at: -1, _id: -1 })
  // Its successor has the same keys and another name.
  await inbox.createIndex({ replay_id: 1, received_at: -1, _id: -1 }, { sparse: true })
  const before = await inbox.indexes()
  await run()
  expect(await inbox.indexes()).toEqual(expect.arrayContaining(before))
  expect(await inbox.indexes()).toHaveLength(COLLECTIONS.inbox.indexes.length + 2)
  await inbox.drop()
  await run()
})

test('a subject whose compatibility somebody lowered stops the job and is named', async () => {
  const subject = registrySubject('alert', stack.topicPrefix)
  const set = (compatibility: string) =>
    fetch(`${stack.registryUrl}/config/${subject}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ compatibility }),
    })
  await set('NONE')
  await expect(run()).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining(subject) })
  await set('BACKWARD_TRANSITIVE')
  await run()
})

test('a part that does not come up in time is named', async () => {
  const kafka = stack.kafka({ brokers: ['127.0.0.1:1'] })
  await expect(run({ kafka, waitMs: 10 })).rejects.toMatchObject({
    code: 'unavailable',
    message: 'Kafka is unavailable',
  })
})

test('the program prints what it did and exits 0; it exits 78 for a fault in its settings', async () => {
  const program = join(import.meta.dirname, 'main.ts')
  const env = {
    ...nodeEnvironment(),
    KAFKA_BROKERS: stack.kafkaBrokers.join(','),
    KAFKA_TOPIC_PREFIX: stack.topicPrefix,
    MONGO_URL: stack.mongoUrl.reveal(),
    MONGO_DB: stack.dbName,
    SCHEMA_REGISTRY_URL: stack.registryUrl,
  }
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env, timeout: 60_000 })
  expect(stdout).toMatch(/topics: all \d+ are as they should be\n/)
  expect(stdout).toMatch(/provisioned\n$/)
  const failing = promisify(execFile)(process.execPath, [program], { env: { ...env, KAFKA_BROKERS: 'nonsense' } })
  await expect(failing).rejects.toMatchObject({ code: 78, stderr: expect.stringContaining('KAFKA_BROKERS') })
})
