import type { ConnectionDocument, ErasureDocument, PersonErasureDocument } from '@backstop/contracts'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { type TestStack, testStack } from '@backstop/kit/test'
import { afterAll, beforeAll } from 'vitest'
import { createIndexes } from '../../test/create-indexes.ts'
import { erasureContract } from '../../test/erasure.contract.ts'
import { openStores } from '../stores.ts'

let stack: TestStack
let mongo: Mongo

beforeAll(async () => {
  stack = await testStack()
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'test' })
  await createIndexes(mongo.db)
})

afterAll(async () => {
  await mongo?.stop()
  await stack?.close()
})

erasureContract('in MongoDB', async () => {
  for (const { name } of await mongo.db.listCollections().toArray()) await mongo.db.collection(name).deleteMany({})
  const connections = mongo.db.collection<ConnectionDocument>('connections')
  const requests = mongo.db.collection<PersonErasureDocument>('person_erasures')
  const erasures = mongo.db.collection<ErasureDocument>('erasures')
  return {
    stores: openStores(mongo),
    putConnection: async connection =>
      void (await connections.replaceOne({ _id: connection._id }, connection, { upsert: true })),
    putRequest: async request => void (await requests.insertOne(request)),
    progress: async id => (await erasures.findOne({ _id: id })) ?? undefined,
    text: async collection => JSON.stringify(await mongo.db.collection(collection).find().toArray()),
  }
})
