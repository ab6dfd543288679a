import { COLLECTIONS, type OperationDocument } from '@backstop/contracts'
import { connectMongo, type Mongo } from '@backstop/kit'
import { type TestStack, testStack } from '@backstop/kit/test'
import { afterAll } from 'vitest'
import { createMongoLedger, createMongoOperationOutbox } from '../src/index.ts'
import { describeLedger } from './ledger.contract.ts'

let stack: TestStack
let mongo: Mongo
afterAll(async () => {
  await mongo.stop()
  await stack.close()
})

describeLedger('MongoDB', async options => {
  stack = await testStack()
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'backstop-test' })
  // The ledger relies on them: the index of idempotency keys is what makes a report unique.
  for (const index of COLLECTIONS.operations.indexes) {
    const unique = 'options' in index ? index.options : {}
    await mongo.db.collection<OperationDocument>('operations').createIndex(index.keys, unique)
  }
  return { ledger: createMongoLedger(mongo.db, options), outboxSource: createMongoOperationOutbox(mongo.db) }
})
