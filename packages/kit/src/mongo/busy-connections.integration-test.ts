import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestStack, testStack } from '../../test/stack.ts'
import { connectMongo, MAX_CONNECTIONS, type Mongo } from './mongo.ts'

let stack: TestStack
let mongo: Mongo
beforeAll(async () => {
  stack = await testStack()
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'backstop-test' })
})
afterAll(async () => {
  await mongo?.stop()
  await stack?.close()
})

const BUSY_FOR_MS = 13_000

// Observed after an election with a rollback: by default the driver lets an operation wait for a connection without
// end.
test('an operation without a connection fails as unavailable instead of waiting without end', async () => {
  const things = mongo.db.collection('things')
  await things.insertOne({})
  const busy = Array.from({ length: MAX_CONNECTIONS }, () =>
    things.findOne({ $where: `sleep(${BUSY_FOR_MS}) || true` }),
  )
  await expect(mongo.ping()).rejects.toMatchObject({ code: 'unavailable', retryable: true })
  await Promise.all(busy)
  await mongo.ping()
})
