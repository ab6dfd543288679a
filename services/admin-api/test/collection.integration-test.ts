import { connectMongo, type Mongo } from '@backstop/kit'
import { type TestStack, testStack } from '@backstop/kit/test'
import { afterAll, beforeAll } from 'vitest'
import { createMongoCollection } from '../src/store/mongo-collection.ts'
import { type Book, describeCollection } from './collection.contract.ts'

let stack: TestStack
let mongo: Mongo
beforeAll(async () => {
  stack = await testStack()
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'backstop-test' })
})
afterAll(async () => {
  await mongo.stop()
  await stack.close()
})

describeCollection('MongoDB', async () => {
  // Emptied instead of dropped, so that its unique index stays.
  const collection = mongo.db.collection('api_keys')
  await collection.createIndex({ hash: 1 }, { unique: true })
  await collection.deleteMany({})
  return createMongoCollection<Book>(mongo.db, 'api_keys')
})
