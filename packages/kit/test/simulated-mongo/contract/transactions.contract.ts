import { MongoErrorLabel, type MongoServerError } from 'mongodb'
import { describe, expect, test } from 'vitest'
import { type ContractSubject, errorOf } from './test-database.ts'

const SNAPSHOT = { readConcern: { level: 'snapshot' } } as const

/** Transactions as the driver runs them. */
export function describeTransactions({ database, of }: ContractSubject): void {
  describe('transactions', () => {
    const client = () => database().mongo.client
    const all = () => of('things').find().sort({ _id: 1 }).toArray()

    test('writes become visible together, and before that only to the transaction', async () => {
      const things = of('things')
      await things.insertOne({ _id: 'a', n: 1 })
      await client().withSession(session =>
        session.withTransaction(async () => {
          await things.insertOne({ _id: 'b', n: 1 }, { session })
          await things.updateOne({ _id: 'a' }, { $inc: { n: 1 } }, { session })
          expect(await things.findOne({ _id: 'b' }, { session })).toEqual({ _id: 'b', n: 1 })
          expect(await things.find({ n: 2 }, { session }).toArray()).toEqual([{ _id: 'a', n: 2 }])
          expect(await things.countDocuments({ n: 1 }, { session })).toBe(1)
          expect(await all()).toEqual([{ _id: 'a', n: 1 }])
        }, SNAPSHOT),
      )
      expect(await all()).toEqual([
        { _id: 'a', n: 2 },
        { _id: 'b', n: 1 },
      ])
    })

    test('its writes are one entry of the oplog, so an election keeps or loses all of them', async () => {
      const write = () =>
        client().withSession(session =>
          session.withTransaction(async () => {
            await of('things').insertOne({ _id: 'a' }, { session })
            await of('things').updateOne({ _id: 'a' }, { $set: { n: 1 } }, { session })
            await of('unique').insertMany(
              [
                { _id: 'b', hash: 'b' },
                { _id: 'c', hash: 'c' },
              ],
              { session },
            )
          }, SNAPSHOT),
        )
      expect(await database().countOplogEntries(write)).toBe(1)
      const apart = () =>
        of('things')
          .insertOne({ _id: 'd' })
          .then(() => of('things').insertOne({ _id: 'e' }))
      expect(await database().countOplogEntries(apart)).toBe(2)
    })

    test('one that is aborted returns its result and stores nothing', async () => {
      const session = client().startSession()
      const result = await session.withTransaction(async () => {
        await of('things').insertOne({ _id: 'a' }, { session })
        await session.abortTransaction()
        return 'no'
      })
      await session.endSession()
      expect([result, await all()]).toEqual(['no', []])
    })

    test('one whose function fails stores nothing and fails alike', async () => {
      const error = new Error('no')
      const run = client().withSession(session =>
        session.withTransaction(async () => {
          await of('things').insertOne({ _id: 'a' }, { session })
          throw error
        }),
      )
      expect(await errorOf(run)).toBe(error)
      expect(await all()).toEqual([])
    })

    test('a duplicate ends it without another attempt', async () => {
      await of('unique').insertOne({ _id: 'a', hash: 'h' })
      let attempts = 0
      const run = client().withSession(session =>
        session.withTransaction(async () => {
          attempts += 1
          await of('unique').insertOne({ _id: 'b', hash: 'i' }, { session })
          await of('unique').insertOne({ _id: 'c', hash: 'h' }, { session })
        }, SNAPSHOT),
      )
      expect(await errorOf(run)).toMatchObject({ code: 11_000, keyPattern: { hash: 1 } })
      expect([attempts, await of('unique').countDocuments()]).toEqual([1, 1])
    })

    test('concurrent ones on one document run again until each has counted', async () => {
      await of('things').insertOne({ _id: 'a', n: 0 })
      const attempts: number[] = []
      await Promise.all(
        Array.from({ length: 4 }, (_, writer) =>
          client().withSession(session =>
            session.withTransaction(async () => {
              attempts.push(writer)
              const found = await of('things').findOne({ _id: 'a' }, { session })
              await of('things').updateOne({ _id: 'a' }, { $set: { n: found!.n + 1 } }, { session })
            }, SNAPSHOT),
          ),
        ),
      )
      expect(await all()).toEqual([{ _id: 'a', n: 4 }])
      expect(attempts.length).toBeGreaterThan(4)
    })

    test('a write to a document that another has changed since is a conflict, and is to be repeated', async () => {
      await of('things').insertMany([{ _id: 'a', n: 0 }, { _id: 'b' }])
      const errors: unknown[] = []
      await client().withSession(session =>
        session.withTransaction(async () => {
          await of('things').findOne({ _id: 'b' }, { session })
          if (errors.length === 0) await of('things').updateOne({ _id: 'a' }, { $inc: { n: 1 } })
          try {
            await of('things').updateOne({ _id: 'a' }, { $inc: { n: 10 } }, { session })
          } catch (error) {
            errors.push(error)
            throw error
          }
        }, SNAPSHOT),
      )
      expect(errors).toMatchObject([{ name: 'MongoServerError', code: 112 }])
      expect((errors[0] as MongoServerError).hasErrorLabel(MongoErrorLabel.TransientTransactionError)).toBe(true)
      expect(await of('things').findOne({ _id: 'a' })).toEqual({ _id: 'a', n: 11 })
    })

    test('it reads everything as of its first read', async () => {
      const things = of('things')
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 1 },
        { _id: 'c', n: 1 },
      ])
      const seen = await client().withSession(session =>
        session.withTransaction(async () => {
          await things.findOne({ _id: 'a' }, { session })
          await things.updateOne({ _id: 'b' }, { $set: { n: 2 } })
          await things.deleteOne({ _id: 'c' })
          await things.insertOne({ _id: 'd', n: 1 })
          return [
            await things.findOne({ _id: 'b' }, { session }),
            await things.find({ n: 1 }, { session }).sort({ _id: 1 }).toArray(),
            await things.find({ _id: { $in: ['c', 'd'] } }, { session }).toArray(),
          ]
        }, SNAPSHOT),
      )
      expect(seen).toEqual([{ _id: 'b', n: 1 }, ['a', 'b', 'c'].map(_id => ({ _id, n: 1 })), [{ _id: 'c', n: 1 }]])
    })

    test('two that read what the other writes are both stored', async () => {
      const things = of('things')
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 1 },
      ])
      const meet = Promise.withResolvers<void>()
      let arrived = 0
      const run = (reads: string, writes: string) =>
        client().withSession(session =>
          session.withTransaction(async () => {
            const found = await things.findOne({ _id: reads }, { session })
            arrived += 1
            if (arrived === 2) meet.resolve()
            await meet.promise
            await things.updateOne({ _id: writes }, { $set: { n: found!.n + 1 } }, { session })
          }, SNAPSHOT),
        )
      await Promise.all([run('a', 'b'), run('b', 'a')])
      expect(await all()).toEqual([
        { _id: 'a', n: 2 },
        { _id: 'b', n: 2 },
      ])
    })

    test('of two that insert the same id, one is a duplicate', async () => {
      const results = await Promise.all(
        [1, 2].map(n =>
          client()
            .withSession(session =>
              session.withTransaction(async () => {
                await of('things').findOne({ _id: 'x' }, { session })
                await of('things').insertOne({ _id: 'a', n }, { session })
              }, SNAPSHOT),
            )
            .then(
              () => 'stored',
              ({ code }) => code,
            ),
        ),
      )
      expect(results.sort()).toEqual([11_000, 'stored'])
    })

    test('a value of a unique index that it frees can be used in it', async () => {
      await of('cases').insertMany([
        { _id: 'a', current: [{ refs: ['x'] }] },
        { _id: 'b', current: [{ refs: ['y'] }] },
      ])
      await client().withSession(session =>
        session.withTransaction(async () => {
          await of('cases').deleteOne({ _id: 'a' }, { session })
          await of('cases').replaceOne({ _id: 'b' }, { current: [{ refs: ['x', 'y'] }] }, { session })
        }),
      )
      expect(await of('cases').find().toArray()).toEqual([{ _id: 'b', current: [{ refs: ['x', 'y'] }] }])
    })

    test('one whose commit was carried out and its answer lost is stored once', async () => {
      await of('things').insertOne({ _id: 'a', n: 0 })
      let attempts = 0
      database().loseNextCommitAnswer()
      await client().withSession(session =>
        session.withTransaction(async () => {
          attempts += 1
          await of('things').updateOne({ _id: 'a' }, { $inc: { n: 1 } }, { session })
        }),
      )
      expect([attempts, await all()]).toEqual([1, [{ _id: 'a', n: 1 }]])
    })
  })
}
