import type { ConnectionDocument, ProjectDocument } from '@backstop/contracts'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { type TestStack, testStack } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectionOf } from '../../test/connection-of.ts'
import { createIndexes } from '../../test/create-indexes.ts'
import { createMongoConnections } from './connection-reader.ts'

let stack: TestStack
let mongo: Mongo
beforeAll(async () => {
  stack = await testStack()
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'backstop-test' })
  await createIndexes(mongo.db)
})
afterAll(async () => {
  await mongo?.stop()
  await stack?.close()
})

test('connections that a process knows are read for a batch from indexes alone, with two commands', async () => {
  const ids = Array.from({ length: 300 }, (_, index) => `con_${index}`)
  const project = (id: string) => `prj_${id}`
  await mongo.db
    .collection<ConnectionDocument>('connections')
    .insertMany(ids.map(id => connectionOf(id, { project_id: project(id) })))
  await mongo.db
    .collection<ProjectDocument>('projects')
    .insertMany(ids.map(id => ({ _id: project(id), name: `Shop ${id}` }) as ProjectDocument))
  const connections = createMongoConnections(mongo)
  await connections.byIds(ids)
  await mongo.db.command({ profile: 2 })
  expect((await connections.byIds(ids)).get('con_7')?.project_name).toBe('Shop con_7')
  await mongo.db.command({ profile: 0 })
  const commands = await mongo.db
    .collection('system.profile')
    .find({ ns: { $in: ['connections', 'projects'].map(name => `${mongo.db.databaseName}.${name}`) } })
    .toArray()
  const summary = commands.map(({ op, docsExamined, nreturned }) => ({ op, docsExamined, nreturned }))
  expect(summary).toEqual([
    { op: 'query', docsExamined: 0, nreturned: 300 },
    { op: 'query', docsExamined: 0, nreturned: 300 },
  ])
})
