import { randomUUID } from 'node:crypto'
import { COLLECTIONS, type CollectionDefinition } from '@backstop/contracts'
import { connectMongo, type Mongo, Secret } from '@backstop/kit'
import { afterAll, beforeAll } from 'vitest'
import { storeContract } from '../../test/store.contract.ts'
import { openStores } from '../start.ts'

let mongo: Mongo

beforeAll(async () => {
  const url = process.env.BACKSTOP_TEST_MONGO
  if (url === undefined) throw new Error('Set BACKSTOP_TEST_MONGO; `npm test` does')
  mongo = connectMongo({ url: new Secret(url), dbName: `test-${randomUUID()}`, appName: 'test' })
  for (const name of ['subjects', 'actions', 'incidents', 'inbox', 'inbox_bodies'] as const) {
    const { indexes }: CollectionDefinition = COLLECTIONS[name]
    for (const { keys, options } of indexes) await mongo.db.collection(name).createIndex(keys, options)
  }
})

afterAll(async () => {
  await mongo.db.dropDatabase()
  await mongo.stop()
})

storeContract('in MongoDB', async () => {
  for (const name of ['subjects', 'actions', 'incidents', 'inbox', 'inbox_bodies']) {
    await mongo.db.collection(name).deleteMany({})
  }
  const stores = openStores(mongo)
  const actions = mongo.db.collection<{ _id: string; version: number }>('actions')
  return { stores, actionVersion: async id => (await actions.findOne({ _id: id }))?.version }
})
