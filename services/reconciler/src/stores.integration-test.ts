import type { ActionDocument, ConnectionDocument } from '@backstop/contracts'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { type TestStack, testStack } from '@backstop/kit/test'
import { afterAll, beforeAll } from 'vitest'
import { createIndexes } from '../test/create-indexes.ts'
import { storeContract } from '../test/store.contract.ts'
import { openStores } from './stores.ts'

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
  const { db } = mongo
  await Promise.all(STORED.map(name => db.collection(name).deleteMany({})))
  const actions = db.collection<ActionDocument>('actions')
  return {
    ...openStores(mongo),
    listedAction: async id => (await actions.findOne({ _id: id })) ?? undefined,
    addConnection: async (connection, projectName) => {
      await db.collection<ConnectionDocument>('connections').insertOne(connection)
      const { project_id: _id } = connection
      if (projectName !== null)
        await db.collection<{ _id: string; name: string }>('projects').insertOne({ _id, name: projectName })
    },
  }
})
