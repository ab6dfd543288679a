import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestStack, testStack } from '../../test/stack.ts'
import { type Change, updateIf } from './update-if.ts'

interface Thing {
  _id: string
  version: number
  note?: unknown
  list?: unknown[]
}

let stack: TestStack
let client: MongoClient

beforeAll(async () => {
  stack = await testStack()
  client = new MongoClient(stack.mongoUrl.reveal())
})

afterAll(async () => {
  await client?.close()
  await stack?.close()
})

const things = () => client.db(stack.dbName).collection<Thing>('things')

beforeEach(async () => {
  await things().deleteMany({})
  await things().insertOne({ _id: 'a', version: 3, note: 'first', list: [1] })
})

/** Changes the document if it has this version. @returns the number of modified documents, and the stored document */
async function change(version: number, change: Change) {
  const result = await things().bulkWrite([updateIf('a', { $eq: ['$version', version] }, change)], { ordered: false })
  return { modified: result.modifiedCount, thing: await things().findOne({ _id: 'a' }) }
}

describe('an update on a condition', () => {
  test('changes what it names and leaves the rest', async () => {
    expect(await change(3, { set: { version: 4 }, append: { list: [2, { deep: 3 }] } })).toEqual({
      modified: 1,
      thing: { _id: 'a', version: 4, note: 'first', list: [1, 2, { deep: 3 }] },
    })
  })

  test('changes nothing when the condition does not hold', async () => {
    const other: Change = { set: { version: 9 }, append: { list: [2] } }
    expect(await change(2, other)).toEqual({
      modified: 0,
      thing: { _id: 'a', version: 3, note: 'first', list: [1] },
    })
  })

  test('makes an array that is not there', async () => {
    await things().updateOne({ _id: 'a' }, { $unset: { list: '' } })
    const { thing } = await change(3, { set: { version: 4 }, append: { list: ['x'] } })
    expect(thing).toEqual({ _id: 'a', version: 4, note: 'first', list: ['x'] })
  })

  test('replaces a value whole, and takes none for an expression', async () => {
    await change(3, { set: { version: 4, note: { old: 1 } } })
    const hostile = { $concat: ['$_id', '$$ROOT'], dotted: '$version' }
    const { thing } = await change(4, { set: { version: 5, note: hostile }, append: { list: ['$version'] } })
    expect(thing).toEqual({ _id: 'a', version: 5, note: hostile, list: [1, '$version'] })
  })

  test('lets one of many concurrent updates succeed', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => change(3, { set: { version: 4 } })))
    expect(results.reduce((sum, { modified }) => sum + modified, 0)).toBe(1)
  })

  test('makes no document where there is none', async () => {
    const result = await things().bulkWrite([updateIf('b', { $eq: ['$version', 1] }, { set: { version: 2 } })])
    expect(result.modifiedCount).toBe(0)
    expect(await things().countDocuments()).toBe(1)
  })
})
