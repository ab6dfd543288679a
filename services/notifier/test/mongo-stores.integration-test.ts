import { randomBytes } from 'node:crypto'
import type { ChannelDocument } from '@backstop/channels'
import { alert, PROJECT, webhookChannel } from '@backstop/channels/test'
import {
  COLLECTIONS,
  type CollectionDefinition,
  type DeadLetterDocument,
  type DeliveryDocument,
  type DeliveryErasureDocument,
  type PersonErasureDocument,
  type SilenceDocument,
  type StormMemberDocument,
} from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMongoChannelStore } from '../src/channels/mongo-channel-store.ts'
import { createMongoDeadLetterStore } from '../src/dead-letters/mongo-dead-letter-store.ts'
import { newDelivery } from '../src/delivery-record/delivery-store.ts'
import { createMongoDeliveryStore } from '../src/delivery-record/mongo-delivery-store.ts'
import { fanOut } from '../src/fan-out/rules/fan-out.ts'
import { createMongoHealthStore } from '../src/health/mongo-health-store.ts'
import { createMongoReplayStore, createMongoRequeueStore } from '../src/replay/mongo-requeue-store.ts'
import { createMongoStormStore } from '../src/storm/mongo-storm-store.ts'
import { createMongoSuppressionStore } from '../src/suppressed-addresses/mongo-suppression-store.ts'
import { describeDeadLetters } from './dead-letters.contract.ts'
import { describeHealth } from './health.contract.ts'
import { describeProjectFacts } from './project-facts.contract.ts'
import { describeRequeues } from './requeue.contract.ts'
import { describeStores } from './store.contract.ts'
import { describeStorms } from './storms.contract.ts'
import { describeSuppressions } from './suppressions.contract.ts'

const url = process.env.BACKSTOP_TEST_MONGO
let mongo: Mongo

beforeAll(() => {
  if (url === undefined) throw new Error('BACKSTOP_TEST_MONGO is not set: run the tests by npm test')
  const dbName = `t${randomBytes(5).toString('hex')}`
  mongo = connectMongo({ url: new Secret(url), dbName, appName: 'notifier-test' })
})
afterAll(async () => {
  await mongo.db.dropDatabase()
  await mongo.stop()
})

describeStores('MongoDB', async () => {
  for (const name of ['channels', 'channel_health', 'deliveries', 'silences'] as const) {
    const collection = mongo.db.collection(name)
    await collection.deleteMany({})
    const { indexes }: CollectionDefinition = COLLECTIONS[name]
    for (const { keys, options } of indexes) await collection.createIndex(keys, options ?? {})
  }
  return {
    channels: createMongoChannelStore(mongo.db),
    deliveries: createMongoDeliveryStore(mongo.db),
    health: createMongoHealthStore(mongo.db),
    putChannel: async channel => {
      await mongo.db.collection<ChannelDocument>('channels').insertOne(channel)
    },
    putProject: async (id, name) => {
      await mongo.db.collection<{ _id: string; name: string }>('projects').insertOne({ _id: id, name })
    },
    putSilence: async silence => {
      await mongo.db.collection<SilenceDocument>('silences').insertOne(silence)
    },
    putConnection: async (id, project_id, name) => {
      const connections = mongo.db.collection<{ _id: string; project_id: string; name: string }>('connections')
      await connections.insertOne({ _id: id, project_id, name })
    },
    putActor: async (id, project_id, name) => {
      const actors = mongo.db.collection<{ _id: string; project_id: string; name: string | null }>('actors')
      await actors.insertOne({ _id: id, project_id, name })
    },
    delivery: async id => (await mongo.db.collection<DeliveryDocument>('deliveries').findOne({ _id: id })) ?? undefined,
  }
})

describeHealth('MongoDB', async () => {
  await mongo.db.collection('channel_health').deleteMany({})
  return createMongoHealthStore(mongo.db)
})

describeProjectFacts('MongoDB', async () => {
  for (const name of ['channels', 'projects', 'suppressions', 'connections', 'erased_actions'])
    await mongo.db.collection(name).deleteMany({})
  return {
    channels: createMongoChannelStore(mongo.db),
    async put(documents) {
      for (const [name, some] of Object.entries(documents))
        await mongo.db.collection(name).insertMany([...some] as never)
    },
  }
})

describeDeadLetters('MongoDB', async () => {
  const collection = mongo.db.collection<DeadLetterDocument>('dead_letters')
  await collection.deleteMany({})
  return { deadLetters: createMongoDeadLetterStore(mongo.db), all: () => collection.find().sort({ _id: 1 }).toArray() }
})

describeSuppressions('MongoDB', async () => {
  await mongo.db.collection('suppressions').deleteMany({})
  return createMongoSuppressionStore(mongo.db)
})

describeRequeues('MongoDB', async () => {
  for (const name of ['deliveries', 'delivery_erasures', 'person_erasures', 'replays'] as const) {
    const collection = mongo.db.collection(name)
    await collection.deleteMany({})
    const { indexes }: CollectionDefinition = COLLECTIONS[name]
    for (const { keys, options } of indexes) await collection.createIndex(keys, options ?? {})
  }
  return {
    deliveries: createMongoDeliveryStore(mongo.db),
    requeues: createMongoRequeueStore(mongo.db),
    replays: createMongoReplayStore(mongo.db),
    putRequest: async request =>
      void (await mongo.db.collection<PersonErasureDocument>('person_erasures').insertOne(request)),
    erasure: async id =>
      (await mongo.db.collection<DeliveryErasureDocument>('delivery_erasures').findOne({ _id: id })) ?? undefined,
  }
})

describeStorms('MongoDB', async () => {
  for (const name of ['storms', 'storm_members'] as const) {
    const collection = mongo.db.collection(name)
    await collection.deleteMany({})
    const { indexes }: CollectionDefinition = COLLECTIONS[name]
    for (const { keys, options } of indexes) await collection.createIndex(keys, options ?? {})
  }
  const members = mongo.db.collection<StormMemberDocument>('storm_members')
  return { storms: createMongoStormStore(mongo.db), members: () => members.find().sort({ _id: 1 }).toArray() }
})

test('a failed digest and the members of a storm are read by an index and not sorted in memory', async () => {
  for (const name of ['deliveries', 'storm_members'] as const) {
    await mongo.db.dropCollection(name)
    const { indexes }: CollectionDefinition = COLLECTIONS[name]
    for (const { keys, options } of indexes) await mongo.db.collection(name).createIndex(keys, options ?? {})
  }
  const profile = mongo.db.collection<{ op: string; planSummary: string; hasSortStage?: boolean }>('system.profile')
  await mongo.db.command({ profile: 2 })
  await createMongoDeliveryStore(mongo.db).findDigest('dlv_digest')
  await createMongoStormStore(mongo.db).visitMembers({ _id: 'stm_1', connection_id: 'con_1' }, () => {})
  await mongo.db.command({ profile: 0 })
  const reads = await profile.find({ op: 'query' }).sort({ ts: 1 }).toArray()
  expect(reads.map(({ planSummary, hasSortStage = false }) => [planSummary, hasSortStage])).toEqual([
    ['IXSCAN { digest_group: 1 }', false],
    ['IXSCAN { connection_id: 1, storm_id: 1, action_id: 1, opened_at: 1, _id: 1 }', false],
  ])
})

test('the deliveries of an erased customer are read by their indexes, however many others the project has', async () => {
  await mongo.db.dropCollection('deliveries')
  const deliveries = mongo.db.collection<DeliveryDocument>('deliveries')
  const { indexes }: CollectionDefinition = COLLECTIONS.deliveries
  for (const { keys, options } of indexes) await deliveries.createIndex(keys, options ?? {})
  const others = Array.from({ length: 500 }, (_, index) =>
    newDelivery(
      { delivery_id: `d${index}`, project_id: PROJECT, channel_id: 'chn_1', attempt: 1, test: false, alert: alert() },
      'webhook',
      index,
    ),
  )
  await deliveries.insertMany(others)
  const profile = mongo.db.collection<{ planSummary: string; docsExamined: number }>('system.profile')
  await mongo.db.command({ profile: 0 })
  await mongo.db.dropCollection('system.profile')
  await mongo.db.command({ profile: 2 })
  const about = { erasureId: 'era_1', actionIds: ['act_a', 'act_b'], customerIds: ['cus_1'], at: new Date(0) }
  await createMongoRequeueStore(mongo.db).erasePersonalData(PROJECT, about)
  await mongo.db.command({ profile: 0 })
  const reads = await profile
    .find({ op: 'query', ns: `${mongo.db.databaseName}.deliveries` })
    .sort({ ts: 1 })
    .toArray()
  const fields = ['action.action_id', 'storm.common.customer.count', 'incident.burst.common.customer.count']
  expect(reads.map(({ planSummary, docsExamined }) => [planSummary, docsExamined])).toEqual(
    fields.map(field => [`IXSCAN { project_id: 1, alert.data.${field}: 1 }`, 0]),
  )
})

test('five hundred deliveries cost a handful of commands', async () => {
  const commands: string[] = []
  const client = new MongoClient(url as string, { monitorCommands: true })
  client.on('commandStarted', event => commands.push(event.commandName))
  const counting = { db: client.db(mongo.db.databaseName), stop: () => client.close() }
  const channels = createMongoChannelStore(counting.db)
  const deliveries = createMongoDeliveryStore(counting.db)
  const ids = Array.from({ length: 500 }, (_, index) => `chn_${index}`)
  await mongo.db.collection<ChannelDocument>('channels').deleteMany({})
  await mongo.db
    .collection<ChannelDocument>('channels')
    .insertMany(ids.map(id => webhookChannel(id, 'https://r.example')))
  const listeners = await channels.findSubscribedChannels([PROJECT])
  const requests = fanOut(alert(), listeners, undefined, { isSilenced: false, openings: new Set() })
  expect(requests).toHaveLength(500)
  await channels.findChannels(ids)
  await deliveries.insertNew(requests.map(request => newDelivery(request, 'webhook', Date.now())))
  await deliveries.progressOf(requests.map(request => request.delivery_id))
  await counting.stop()
  const counted = commands.filter(name => name !== 'endSessions')
  expect(counted).toEqual(['find', 'aggregate', 'insert', 'find'])
})
