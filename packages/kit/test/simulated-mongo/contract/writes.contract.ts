import type { Document } from 'mongodb'
import { describe, expect, test } from 'vitest'
import { isDuplicateKey, updateIf } from '../../../src/mongo/index.ts'
import { type ContractSubject, errorOf, type Thing } from './test-database.ts'

const AT = new Date('2026-01-02T03:04:05.678Z')
const LATER = new Date('2026-02-02T03:04:05.678Z')

/** Counts of writes, upserts, and writers at the same time. */
export function describeWrites({ of }: ContractSubject): void {
  describe('writes', () => {
    const stored = async () => of('things').findOne({ _id: 'a' })

    test('stores a copy of the document without undefined fields, and reads return copies', async () => {
      const given = {
        _id: 'a',
        n: undefined,
        list: [1, undefined, 2],
        at: AT,
        bytes: Buffer.from('x'),
        big: 2 ** 40,
        inner: { m: undefined },
      }
      await of('things').insertOne(given)
      const found = (await stored()) as Record<string, unknown>
      expect({ ...found, bytes: undefined }).toEqual({ _id: 'a', list: [1, null, 2], at: AT, big: 2 ** 40, inner: {} })
      expect(Object.keys(found)).toEqual(['_id', 'list', 'at', 'bytes', 'big', 'inner'])
      expect(found.bytes).toMatchObject({ _bsontype: 'Binary', position: 1 })
      ;(found.list as unknown[]).push(3)
      expect((await stored())?.list).toEqual([1, null, 2])
    })

    test('counts of writes', async () => {
      const things = of('things')
      await things.insertMany(['a', 'b', 'c'].map(_id => ({ _id, n: 1 })))
      const counts = ({
        matchedCount: matched,
        modifiedCount: modified,
        upsertedCount: upserted,
        upsertedId: id,
      }: {
        matchedCount: number
        modifiedCount: number
        upsertedCount: number
        upsertedId: unknown
      }) => ({ matched, modified, upserted, id })
      expect(counts(await things.updateOne({ n: 1 }, { $set: { n: 1 } }))).toEqual({
        matched: 1,
        modified: 0,
        upserted: 0,
        id: null,
      })
      expect(counts(await things.updateMany({ n: 1 }, { $set: { m: 1 } }))).toEqual({
        matched: 3,
        modified: 3,
        upserted: 0,
        id: null,
      })
      expect(counts(await things.updateOne({ _id: 'x' }, { $set: { m: 1 } }))).toEqual({
        matched: 0,
        modified: 0,
        upserted: 0,
        id: null,
      })
      expect(counts(await things.updateOne({ _id: 'x' }, { $set: { m: 1 } }, { upsert: true }))).toEqual({
        matched: 0,
        modified: 0,
        upserted: 1,
        id: 'x',
      })
      expect(counts(await things.replaceOne({ _id: 'x' }, { m: 1 }))).toEqual({
        matched: 1,
        modified: 1,
        upserted: 0,
        id: null,
      })
      expect((await things.deleteOne({ m: 1 })).deletedCount).toBe(1)
      expect((await things.deleteMany({ m: 1 })).deletedCount).toBe(3)
      const { insertedCount, matchedCount, modifiedCount, deletedCount, upsertedCount, upsertedIds } =
        await things.bulkWrite([
          { insertOne: { document: { _id: 'a', n: 1 } } },
          { updateOne: { filter: { _id: 'a' }, update: { $set: { n: 1 } } } },
          { updateOne: { filter: { _id: 'b' }, update: { $set: { n: 1 } }, upsert: true } },
          { updateMany: { filter: { n: 1 }, update: { $set: { n: 2 } } } },
          { replaceOne: { filter: { _id: 'c' }, replacement: { n: 1 }, upsert: true } },
          { deleteOne: { filter: { _id: 'a' } } },
        ])
      expect({ insertedCount, matchedCount, modifiedCount, deletedCount, upsertedCount, upsertedIds }).toEqual({
        insertedCount: 1,
        matchedCount: 3,
        modifiedCount: 2,
        deletedCount: 1,
        upsertedCount: 2,
        upsertedIds: { 2: 'b', 4: 'c' },
      })
    })

    test('the fields of the filter are part of an upserted document', async () => {
      const filter = {
        _id: 'a',
        n: { $eq: 1 },
        $and: [{ m: 2 }],
        at: { $gt: AT },
        none: { $not: { $gte: 1 } },
        x: { $in: [1, 2] },
      }
      const update: Document = { $set: { k: 1 }, $setOnInsert: { j: 1, 'i.h': 2 }, $push: { list: 1 } }
      await of('things').updateOne(filter, update, { upsert: true })
      expect(await stored()).toEqual({ _id: 'a', n: 1, m: 2, k: 1, j: 1, i: { h: 2 }, list: [1] })
    })

    test('a pipeline makes an upserted document of its filter', async () => {
      await of('things').updateOne({ _id: 'a' }, [{ $set: { n: { $ifNull: ['$n', 5] }, id: '$_id' } }], {
        upsert: true,
      })
      expect(await stored()).toEqual({ _id: 'a', n: 5, id: 'a' })
    })

    test('an upsert of an id that exists and does not meet the condition is a duplicate', async () => {
      await of('things').insertOne({ _id: 'a', until: LATER })
      const claim = () =>
        of('things').findOneAndUpdate(
          { _id: 'a', until: { $not: { $gte: AT } } },
          { $set: { until: AT } },
          { upsert: true, returnDocument: 'before' },
        )
      expect(await errorOf(claim())).toMatchObject({ code: 11_000, keyPattern: { _id: 1 } })
    })

    test('one of many upserts of a missing document inserts it', async () => {
      const results = await Promise.all(
        Array.from({ length: 8 }, () =>
          of('things').updateOne({ _id: 'a' }, { $inc: { n: 1 }, $setOnInsert: { m: 1 } }, { upsert: true }),
        ),
      )
      expect(results.reduce((sum, { upsertedCount }) => sum + upsertedCount, 0)).toBe(1)
      expect(await stored()).toEqual({ _id: 'a', n: 8, m: 1 })
    })

    test('one of many conditional updates wins', async () => {
      await of('things').insertOne({ _id: 'a', version: 1 })
      const byPipeline = await Promise.all(
        Array.from({ length: 8 }, (_, writer) =>
          of('things').bulkWrite([
            updateIf<Thing>('a', { $eq: ['$version', 1] }, { set: { version: 2, writer }, append: { list: [writer] } }),
          ]),
        ),
      )
      expect(byPipeline.reduce((sum, { modifiedCount }) => sum + modifiedCount, 0)).toBe(1)
      expect(byPipeline.reduce((sum, { matchedCount }) => sum + matchedCount, 0)).toBe(8)
      const byFilter = await Promise.all(
        Array.from({ length: 8 }, (_, writer) =>
          of('things').updateOne({ _id: 'a', version: 2 }, { $set: { version: 3, writer } }),
        ),
      )
      expect(byFilter.reduce((sum, { matchedCount }) => sum + matchedCount, 0)).toBe(1)
    })

    test('findOneAndUpdate returns the document before or after, by its order and projection', async () => {
      const things = of('things')
      await things.insertMany([
        { _id: 'a', at: LATER, n: 1 },
        { _id: 'b', at: AT, n: 1 },
        { _id: 'c', n: 2 },
      ])
      expect(await things.findOneAndUpdate({ n: 1 }, { $inc: { n: 1 } }, { sort: { at: 1 } })).toEqual({
        _id: 'b',
        at: AT,
        n: 1,
      })
      expect(
        await things.findOneAndUpdate({ n: 1 }, { $inc: { n: 1 } }, { sort: { at: 1 }, returnDocument: 'after' }),
      ).toEqual({ _id: 'a', at: LATER, n: 2 })
      expect(
        await things.findOneAndUpdate(
          { n: 2 },
          { $set: { n: 2 } },
          { sort: { at: 1 }, returnDocument: 'after', projection: { n: 1 } },
        ),
      ).toEqual({ _id: 'c', n: 2 })
      expect(await things.findOneAndUpdate({ n: 9 }, { $inc: { n: 1 } })).toBeNull()
      expect(
        await things.findOneAndUpdate({ _id: 'd' }, { $inc: { n: 1 } }, { upsert: true, returnDocument: 'before' }),
      ).toBeNull()
      expect(
        await things.findOneAndUpdate({ _id: 'e' }, { $inc: { n: 1 } }, { upsert: true, returnDocument: 'after' }),
      ).toEqual({ _id: 'e', n: 1 })
    })

    test('a writer that lost sees the write that it lost against', async () => {
      const things = of('things')
      await things.insertOne({ _id: 'a', version: 1 })
      const updates = [2, 3].map(async version => {
        const { matchedCount } = await things.updateOne({ _id: 'a', version: 1 }, { $set: { version } })
        return matchedCount === 0 ? stored() : version
      })
      const [first, second] = await Promise.all(updates)
      expect([
        { _id: 'a', version: 2 },
        { _id: 'a', version: 3 },
      ]).toContainEqual([first, second].find(seen => typeof seen === 'object'))
      const inserts = [1, 2].map(async n => {
        await things.insertOne({ _id: 'b', n }).catch(error => expect(isDuplicateKey(error)).toBe(true))
        return (await things.findOne({ _id: 'b' }))?.n
      })
      const [one, other] = await Promise.all(inserts)
      expect([one, other]).toEqual([one, one])
      expect([1, 2]).toContain(one)
    })

    test('a date by the clock of the server', async () => {
      await of('things').updateOne({ _id: 'a' }, { $currentDate: { at: true } }, { upsert: true })
      expect(Math.abs((await stored())!.at - Date.now())).toBeLessThan(60_000)
    })
  })
}
