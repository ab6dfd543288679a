import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { type TestStack, testStack } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openContractStores } from '../test/contract-stores.ts'
import { createIndexes } from '../test/create-indexes.ts'
import { storeContract } from '../test/store.contract.ts'
import { createMongoActors } from './actors/actor-store.ts'

/** The collections that the contracts fill. */
const STORED = [
  'subjects',
  'connections',
  'projects',
  'actions',
  'incidents',
  'incident_outcomes',
  'inbox',
  'inbox_bodies',
  'inbox_replays',
  'expected_changes',
  'expected_change_uses',
  'operation_search',
  'sweeps',
  'sweep_days',
] as const

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

storeContract('in MongoDB', async () => {
  await Promise.all(STORED.map(name => mongo.db.collection(name).deleteMany({})))
  return openContractStores(mongo)
})

test('the secret of a project is made once, also by many processes at the same moment', async () => {
  const actors = createMongoActors(mongo)
  const read = await Promise.all(Array.from({ length: 20 }, () => actors.secretsOf(['prj_a', 'prj_b'])))
  const secrets = read.flatMap(found => [...found.values()])
  expect(secrets).toHaveLength(40)
  expect(new Set(secrets).size).toBe(2)
})
