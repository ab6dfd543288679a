/** The contract on the simulated server, with writes that reach a majority a moment later. */
import { expect, test, vi } from 'vitest'
import { simulatedMongo } from '../db.ts'
import { brokenConnection } from '../errors.ts'
import { MongoServer } from '../server.ts'
import { PERFECT_WIRE, type Wire } from '../wire.ts'
import { describeDriver } from './driver.contract.ts'
import { CONTRACT_COLLECTIONS } from './test-database.ts'

describeDriver('the simulated MongoDB', async () => {
  const server = new MongoServer(CONTRACT_COLLECTIONS, { replicate: confirm => void setTimeout(confirm, 1) })
  let losesCommit = false
  const wire: Wire = {
    ...PERFECT_WIRE,
    async call(command, act) {
      const answer = await act()
      if (command.name !== 'commitTransaction' || !losesCommit) return answer
      losesCommit = false
      throw brokenConnection()
    },
  }
  const mongo = simulatedMongo(server, wire)
  return {
    mongo,
    loseNextCommitAnswer() {
      losesCommit = true
    },
    async countOplogEntries(write) {
      const before = server.confirmed
      await write()
      return new Set(server.entriesAfter(before)?.map(({ step }) => step)).size
    },
    async positionTooOld() {
      const stream = mongo.db.watch()
      await stream.tryNext()
      const { _data } = stream.resumeToken as { _data: string }
      await mongo.db.collection('things').insertOne({})
      server.forgetOplog()
      return _data
    },
    close: () => mongo.stop(),
  }
})

test.each([0, 0.3, 0.6, 0.9])(
  'an election that keeps %d of the writes keeps or loses a transaction as a whole',
  async keep => {
    const server = new MongoServer(CONTRACT_COLLECTIONS, { replicate: () => {} })
    const things = server.collection('things')
    const write = (...ids: string[]) => server.write(ids.map(id => ({ collection: things, id, after: { _id: id } })))
    write('a')
    write('b', 'c', 'd')
    write('e')
    server.elect(keep)
    const kept = [...things.all()].map(({ _id }) => _id).join('')
    expect(['', 'a', 'abcd']).toContain(kept)
  },
)

test('a transaction that only reads runs again if an election loses what it read', async () => {
  const confirmations: (() => void)[] = []
  const server = new MongoServer(CONTRACT_COLLECTIONS, { replicate: confirm => void confirmations.push(confirm) })
  const { mongo, close } = { mongo: simulatedMongo(server, PERFECT_WIRE), close: () => mongo.stop() }
  const things = mongo.db.collection('things')
  const lost = things.insertOne({ _id: 'lost' as never }).catch(() => {})
  const seen: string[][] = []
  const reading = mongo.client.withSession(session =>
    session.withTransaction(async () => {
      const found = await things.find({}, { session }).toArray()
      seen.push(found.map(({ _id }) => String(_id)))
    }),
  )
  await vi.waitFor(() => expect(seen).toEqual([['lost']]))
  server.elect(0)
  for (const confirm of confirmations) confirm()
  await reading
  expect(seen).toEqual([['lost'], []])
  await Promise.all([lost, close()])
})
