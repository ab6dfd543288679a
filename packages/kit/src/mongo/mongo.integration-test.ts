import { MongoClient, MongoServerError } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestStack, testStack } from '../../test/stack.ts'
import { startTcpProxy, type TcpProxy } from '../../test/tcp-proxy.ts'
import { until } from '../../test/until.ts'
import { writeIgnoringDuplicates } from './duplicate-keys.ts'
import { asUnavailable, isMongoUnavailable } from './mongo.ts'

interface Thing {
  _id: number
}

let stack: TestStack
let proxy: TcpProxy
let client: MongoClient

beforeAll(async () => {
  stack = await testStack()
  const [host = '', port = ''] = new URL(stack.mongoUrl.reveal().replace('mongodb:', 'http:')).host.split(':')
  proxy = await startTcpProxy({ host, port: Number(port) })
  client = new MongoClient(`mongodb://127.0.0.1:${proxy.address.port}/?directConnection=true`, {
    serverSelectionTimeoutMS: 300,
  })
  // A busy machine needs longer than 300 ms to connect.
  await until('a connection', () => client.db().command({ ping: 1 }))
  await client.db(stack.dbName).collection<Thing>('things').insertOne({ _id: 1 })
})

afterAll(async () => {
  await client?.close()
  await proxy?.stop()
  await stack?.close()
})

const things = () => client.db(stack.dbName).collection<Thing>('things')

describe('an unavailable MongoDB', () => {
  const calls: { name: string; call: () => Promise<unknown> }[] = [
    { name: 'find', call: () => things().find().toArray() },
    { name: 'insertMany', call: () => things().insertMany([{ _id: 2 }], { ordered: false }) },
    {
      name: 'bulkWrite',
      call: () => things().bulkWrite([{ insertOne: { document: { _id: 3 } } }], { ordered: false }),
    },
    {
      name: 'a write that ignores duplicates',
      call: () => writeIgnoringDuplicates(() => things().insertMany([{ _id: 4 }]), 1),
    },
  ]
  test.each(calls)('is reported as unavailable by $name', async ({ call }) => {
    proxy.mode = 'refuse'
    proxy.cutAll()
    try {
      await expect(asUnavailable(call)).rejects.toMatchObject({ code: 'unavailable', retryable: true })
    } finally {
      proxy.mode = 'pass'
    }
  })
})

describe('a MongoDB that refuses', () => {
  beforeAll(() => until('MongoDB to be back', () => client.db().command({ ping: 1 })))

  test('is not reported as unavailable', async () => {
    const twice = things().insertOne({ _id: 1 })
    await expect(asUnavailable(() => twice)).rejects.not.toMatchObject({ code: 'unavailable' })
  })

  test('returns the duplicates of an unordered write and inserts the rest', async () => {
    const write = () => things().insertMany([{ _id: 1 }, { _id: 10 }, { _id: 1 }], { ordered: false })
    expect(await writeIgnoringDuplicates(write, 3)).toEqual([0, 2])
    expect(await things().countDocuments({ _id: 10 })).toBe(1)
  })

  // The server has different error codes for a document that is slightly too large and one that is far too large.
  test.each([1, 100].map(kib => ({ kib, name: `${kib} KiB more than a document may hold` })))(
    'a document that an update would make too large is no outage: $name',
    async ({ kib }) => {
      const _id = 1_000 + kib
      await things().insertOne({ _id, pad: 'x'.repeat(15 * 2 ** 20) } as Thing)
      const more = 'x'.repeat(2 ** 20 + (kib - 1) * 1_024)
      const error = await things()
        .updateOne({ _id }, { $set: { more } })
        .catch((error: unknown) => error)
      expect(error).toBeInstanceOf(MongoServerError)
      expect(isMongoUnavailable(error)).toBe(false)
    },
  )

  test('a fault of ours stays a fault', () => {
    expect(isMongoUnavailable(new TypeError('no'))).toBe(false)
  })
})
