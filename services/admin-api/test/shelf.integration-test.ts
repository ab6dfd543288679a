import { connectMongo, type Mongo } from '@backstop/kit'
import { type TestStack, testStack } from '@backstop/kit/test'
import { afterAll, beforeAll } from 'vitest'
import { createMongoShelf } from '../src/store/mongo-shelf.ts'
import { type Book, describeShelf } from './shelf.contract.ts'

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

describeShelf('MongoDB', async () => {
  // Any collection will do; emptied rather than dropped, so that its unique index stays.
  const collection = mongo.db.collection('api_keys')
  await collection.createIndex({ hash: 1 }, { unique: true })
  await collection.deleteMany({})
  return createMongoShelf<Book>(mongo.db, 'api_keys')
})
