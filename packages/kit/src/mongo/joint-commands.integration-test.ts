import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestStack, testStack } from '../../test/stack.ts'
import { joinFinds, joinInserts } from './joint-commands.ts'

interface Thing {
  _id: string
  name: string
}

let stack: TestStack
let client: MongoClient
let commands: string[]
beforeAll(async () => {
  stack = await testStack()
  client = new MongoClient(stack.mongoUrl.reveal(), { monitorCommands: true })
  client.on('commandStarted', ({ commandName }) => void commands.push(commandName))
  commands = []
  await things().createIndex({ name: 1 }, { unique: true })
})
afterAll(async () => {
  await client?.close()
  await stack?.close()
})
beforeEach(async () => {
  await things().deleteMany({})
  commands = []
})

const things = () => client.db(stack.dbName).collection<Thing>('things')
const many = Array.from({ length: 100 }, (_, index) => ({ _id: `t${index}`, name: `thing ${index}` }))

test('concurrent inserts share a command, and each caller hears of its own document', async () => {
  const insert = joinInserts<Thing>(things())
  await insert({ _id: 'there', name: 'thing 7' })
  commands = []
  const inserted = await Promise.all([...many, { _id: 't1', name: 'another' }].map(insert))
  expect(inserted.flatMap((isNew, index) => (isNew ? [] : [index]))).toEqual([7, 100])
  expect(commands).toEqual(['insert'])
  expect(await things().countDocuments()).toBe(100)
})

test('concurrent finds share a command, and a value that no document has is undefined', async () => {
  await things().insertMany(many)
  commands = []
  const find = joinFinds(
    (names: readonly string[]) =>
      things()
        .find({ name: { $in: [...names] } })
        .toArray(),
    ({ name }) => name,
  )
  const found = await Promise.all(['thing 3', 'nothing', 'thing 4', 'thing 3'].map(find))
  expect(found.map(thing => thing?._id)).toEqual(['t3', undefined, 't4', 't3'])
  expect(commands).toEqual(['find'])
})

test('calls that come while a command is on its way share the next one', async () => {
  const insert = joinInserts<Thing>(things())
  const first = insert({ _id: 'a', name: 'a' })
  await expect.poll(() => commands, { interval: 0 }).toEqual(['insert'])
  const others = many.map(insert)
  await Promise.all([first, ...others])
  expect(commands).toEqual(['insert', 'insert'])
})
