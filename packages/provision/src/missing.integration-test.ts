import { TOPICS } from '@backstop/contracts'
import { connectMongo } from '@backstop/kit/mongo'
import { type TestStack, testStack } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findMissing } from './missing.ts'
import { provision } from './provision.ts'

let stack: TestStack
let mongo: ReturnType<typeof connectMongo>

beforeAll(async () => {
  stack = await testStack()
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'missing-test' })
})
afterAll(async () => {
  await mongo.stop()
  await stack.close()
})

const look = () => findMissing(stack.admin, mongo.db, stack.topicPrefix)

test('a service waits for every topic, collection and schema, and starts once the deploy job has made them', async () => {
  const atFirst = await look()
  expect(atFirst.filter(name => name.startsWith('topic '))).toHaveLength(Object.keys(TOPICS).length)
  expect(atFirst).toContain('collection subjects')
  expect(atFirst).toContain('schema of alert')

  await provision({
    kafka: stack.kafka(),
    topicPrefix: stack.topicPrefix,
    durability: { replication: 1, minInsync: 1 },
    mongo: { url: stack.mongoUrl, dbName: stack.dbName },
    registryUrl: stack.registryUrl,
    waitMs: 10_000,
    report: () => {},
  })
  expect(await look()).toEqual([])

  await mongo.db.collection('subjects').dropIndex('current.refs_1')
  expect(await look()).toEqual(['unique index {"current.refs":1} of subjects'])
  // An index that is not unique keeps no promise.
  await mongo.db.collection('subjects').createIndex({ 'current.refs': 1 })
  expect(await look()).toEqual(['unique index {"current.refs":1} of subjects'])
})
