import type { ConnectionDocument } from '@backstop/contracts'
import { systemClock } from '@backstop/kit/clock'
import { Secret } from '@backstop/kit/config'
import { createLogger } from '@backstop/kit/logger'
import { connectMongo } from '@backstop/kit/mongo'
import { startTcpProxy, type TcpProxy, type TestStack, testStack, until } from '@backstop/kit/test'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectionDocument, secretBox } from '../../test/connection-documents.ts'
import { describeConnections } from './connections.contract.ts'
import { createMongoConnections } from './mongo-connections.ts'

let stack: TestStack
let client: MongoClient
let databases = 0
beforeAll(async () => {
  stack = await testStack()
  client = new MongoClient(stack.mongoUrl.reveal())
})
afterAll(async () => {
  await client.close()
  await stack.close()
})

/** Opens connections over `url` in a fresh database. The test's own writes use a direct connection. */
function openConnections(url: Secret, reloadMs = 60_000) {
  databases += 1
  const dbName = `${stack.dbName}-${databases}`
  const mongo = connectMongo({ url, dbName, appName: 'test' })
  const lines: Record<string, unknown>[] = []
  const logger = createLogger('ingress', 'debug', { write: line => lines.push(JSON.parse(line)) })
  const connections = createMongoConnections({ db: mongo.db, secretBox, clock: systemClock, logger, reloadMs })
  const collection = client.db(dbName).collection<ConnectionDocument>('connections')
  return {
    connections,
    collection,
    lines,
    async save(document: ConnectionDocument) {
      await collection.replaceOne({ _id: document._id }, document, { upsert: true })
    },
    async remove(connectionId: string) {
      await collection.deleteOne({ _id: connectionId })
    },
    async stop() {
      await connections.stop()
      await mongo.stop()
      await client.db(dbName).dropDatabase()
    },
  }
}

describeConnections('MongoDB', async () => openConnections(stack.mongoUrl))

describe('connections in MongoDB', () => {
  test('follow single fields that change, not only whole documents', async () => {
    const subject = openConnections(stack.mongoUrl)
    await subject.save(connectionDocument('con_1', 'processor', ['whsec_some-old-secret']))
    await subject.connections.start()
    await until('the load', () => subject.connections.isLoaded())
    await subject.collection.updateOne({ _id: 'con_1' }, { $set: { status: 'deleted' }, $inc: { version: 1 } })
    await until('its end', () => subject.connections.find('con_1') === undefined, { promisedMs: 2_000 })
    await subject.stop()
  })

  test('recover after their collection is dropped and created again', async () => {
    const subject = openConnections(stack.mongoUrl)
    await subject.save(connectionDocument('con_1', 'processor', ['whsec_some-old-secret']))
    await subject.connections.start()
    await until('the load', () => subject.connections.isLoaded())
    await subject.collection.drop()
    await until('their end', () => subject.connections.count() === 0)
    await subject.save(connectionDocument('con_2', 'processor', ['whsec_some-new-secret']))
    await until('the new one', () => subject.connections.find('con_2') !== undefined)
    await subject.stop()
  })

  test('are read again periodically, in case the change stream missed a change', async () => {
    const subject = openConnections(stack.mongoUrl, 300)
    await subject.connections.start()
    await until('three loads', () => subject.lines.filter(({ msg }) => msg === 'connections.loaded').length >= 3)
    await subject.stop()
  })
})

describe('connections while MongoDB is unavailable', () => {
  let proxy: TcpProxy
  const proxied = () => new Secret(`mongodb://${proxy.address.host}:${proxy.address.port}/?directConnection=true`)
  beforeAll(async () => {
    const [host, port] = new URL(stack.mongoUrl.reveal()).host.split(',')[0]!.split(':')
    proxy = await startTcpProxy({ host: host!, port: Number(port) })
  })
  afterAll(() => proxy.stop())

  test.each(['refuse', 'black_hole'] as const)(
    'stay known, and changes made meanwhile apply once it is back (%s)',
    async mode => {
      const subject = openConnections(proxied())
      await subject.save(connectionDocument('con_1', 'processor', ['whsec_some-old-secret']))
      await subject.connections.start()
      await until('the load', () => subject.connections.isLoaded())
      proxy.mode = mode
      if (mode === 'refuse') proxy.cutAll()
      await subject.save(connectionDocument('con_2', 'processor', ['whsec_some-new-secret']))
      await subject.remove('con_1')
      if (mode === 'refuse') {
        await until('the lost feed', () => subject.lines.some(({ msg }) => msg === 'connections.feed_lost'))
      }
      expect(subject.connections.find('con_1')).toBeDefined()
      expect(subject.connections.find('con_2')).toBeUndefined()
      proxy.mode = 'pass'
      if (mode === 'black_hole') proxy.cutAll()
      await until('what changed', () => {
        return subject.connections.find('con_2') !== undefined && subject.connections.find('con_1') === undefined
      })
      await subject.stop()
    },
  )

  test('are loaded without a restart if it was down at the start', async () => {
    proxy.mode = 'refuse'
    const subject = openConnections(proxied())
    await subject.save(connectionDocument('con_1', 'processor', ['whsec_some-old-secret']))
    await subject.connections.start()
    await until('a failed try', () => subject.lines.some(({ msg }) => msg === 'connections.feed_lost'))
    expect(subject.connections.isLoaded()).toBe(false)
    proxy.mode = 'pass'
    await until('the load', () => subject.connections.find('con_1') !== undefined)
    await subject.stop()
  })
})
