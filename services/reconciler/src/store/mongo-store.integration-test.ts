import type { ActionDocument, ConnectionDocument, ExpectedChangeDocument } from '@backstop/contracts'
import { connectMongo, type Mongo } from '@backstop/kit'
import { type TestStack, testStack } from '@backstop/kit/test'
import { afterAll, beforeAll } from 'vitest'
import { createIndexes } from '../../test/create-indexes.ts'
import { storeContract } from '../../test/store.contract.ts'
import { sweepContract } from '../../test/sweeps.contract.ts'
import { openStores } from '../start.ts'
import { createMongoSweeps } from './mongo-sweeps.ts'

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
  for (const name of [
    'subjects',
    'connections',
    'projects',
    'actions',
    'incidents',
    'inbox',
    'inbox_bodies',
    'expected_changes',
    'expected_change_uses',
  ]) {
    await mongo.db.collection(name).deleteMany({})
  }
  const stores = openStores(mongo)
  const actions = mongo.db.collection<ActionDocument>('actions')
  const collection = mongo.db.collection<ExpectedChangeDocument>('expected_changes')
  return {
    stores,
    action: async id => (await actions.findOne({ _id: id })) ?? undefined,
    addConnection: async (connection, projectName) => {
      await mongo.db.collection<ConnectionDocument>('connections').insertOne(connection)
      const { project_id: _id } = connection
      if (projectName !== null)
        await mongo.db.collection<{ _id: string; name: string }>('projects').insertOne({ _id, name: projectName })
    },
    addExpectedChanges: async list => void (await collection.insertMany([...list])),
  }
})

sweepContract('in MongoDB', async () => {
  await mongo.db.collection('sweeps').deleteMany({})
  return createMongoSweeps(mongo)
})
