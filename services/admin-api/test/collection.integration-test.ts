import { randomUUID } from 'node:crypto'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { type TestStack, testStack } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
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

test('a list that takes MongoDB too long is unavailable, and the error says what to do', async () => {
  // A repeat of the test stores other books.
  const run = randomUUID()
  const books = Array.from({ length: 20_000 }, (_, index) => ({
    _id: `${run} ${index}`,
    title: 'A title',
    hash: `${run} ${index}`,
  }))
  await mongo.db.collection<{ _id: string }>('api_keys').insertMany(books, { ordered: false, writeConcern: { w: 1 } })
  const collection = createMongoCollection<Book>(mongo.db, 'api_keys', undefined, 1)
  const tooSlow = { code: 'unavailable', retryable: true, message: expect.stringContaining('narrow it') }
  await expect(collection.page({ where: { title: 'Other' }, by: 'made', limit: 10 })).rejects.toMatchObject(tooSlow)
  const batches = collection.batches({ title: 'Other' }, ['title'])[Symbol.asyncIterator]()
  await expect(batches.next()).rejects.toMatchObject(tooSlow)
  await expect(collection.findAll({ title: 'Other' })).rejects.toMatchObject({ code: 'unavailable' })
})
