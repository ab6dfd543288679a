import { type Document, MongoBulkWriteError, MongoServerError } from 'mongodb'
import { describe, expect, test } from 'vitest'
import { isDuplicateKey, isMongoUnavailable } from '../../../src/mongo/index.ts'
import { type ContractSubject, errorOf } from './test-database.ts'

/** How MongoDB refuses documents, and what the driver makes of it. */
export function describeRefusals({ of }: ContractSubject): void {
  describe('refused writes', () => {
    test('an id that exists', async () => {
      await of('things').insertOne({ _id: 'a' })
      const error = await errorOf(of('things').insertOne({ _id: 'a', n: 1 }))
      expect(error).toBeInstanceOf(MongoServerError)
      expect(error).toMatchObject({ code: 11_000, keyPattern: { _id: 1 }, keyValue: { _id: 'a' } })
      expect(isDuplicateKey(error)).toBe(true)
      expect(isMongoUnavailable(error)).toBe(false)
    })

    test.each(['insert', 'update', 'replace', 'findOneAndUpdate', 'upsert'])('a unique value, by %s', async kind => {
      const unique = of('unique')
      await unique.insertMany([
        { _id: 'a', hash: 'h' },
        { _id: 'b', hash: 'i' },
      ])
      const calls: Record<string, () => Promise<unknown>> = {
        insert: () => unique.insertOne({ _id: 'c', hash: 'h' }),
        update: () => unique.updateOne({ _id: 'b' }, { $set: { hash: 'h' } }),
        replace: () => unique.replaceOne({ _id: 'b' }, { hash: 'h' }),
        findOneAndUpdate: () => unique.findOneAndUpdate({ _id: 'b' }, { $set: { hash: 'h' } }),
        upsert: () => unique.updateOne({ _id: 'c' }, { $set: { hash: 'h' } }, { upsert: true }),
      }
      expect(await errorOf(calls[kind]!())).toMatchObject({
        name: 'MongoServerError',
        code: 11_000,
        keyPattern: { hash: 1 },
        keyValue: { hash: 'h' },
      })
      expect(await unique.find().sort({ _id: 1 }).toArray()).toEqual([
        { _id: 'a', hash: 'h' },
        { _id: 'b', hash: 'i' },
      ])
    })

    test('a missing value is one value of a unique index', async () => {
      await of('unique').insertOne({ _id: 'a' })
      expect(isDuplicateKey(await errorOf(of('unique').insertOne({ _id: 'b' })))).toBe(true)
      expect(isDuplicateKey(await errorOf(of('unique').insertOne({ _id: 'b', hash: null })))).toBe(true)
    })

    test('a partial unique index is about the documents that match it', async () => {
      const partial = of('partial')
      await partial.insertMany([{ _id: 'a' }, { _id: 'b' }, { _id: 'c', issuer: 'i', subject: 's' }])
      expect(isDuplicateKey(await errorOf(partial.insertOne({ _id: 'd', issuer: 'i', subject: 's' })))).toBe(true)
      await partial.insertMany([
        { _id: 'e', issuer: 'i', subject: 't' },
        { _id: 'f', issuer: 'j', subject: 's' },
        { _id: 'g', issuer: null, subject: 's' },
        { _id: 'h', issuer: null, subject: 's' },
      ])
    })

    test('a unique index of an array is about each element, but not within one document', async () => {
      const cases = of('cases')
      await cases.insertOne({ _id: 'a', current: [{ refs: ['x', 'y', 'x'] }] })
      const error = await errorOf(cases.insertOne({ _id: 'b', current: [{ refs: ['z', 'y'] }] }))
      expect(error).toMatchObject({ code: 11_000, keyPattern: { 'current.refs': 1 } })
      await cases.updateOne({ _id: 'a' }, { $set: { 'current.0.refs': ['x'] } })
      await cases.insertOne({ _id: 'b', current: [{ refs: ['z', 'y'] }] })
      // An empty array is one value, as a missing field is another.
      await cases.insertMany([{ _id: 'c', current: [{ refs: [] }] }, { _id: 'd' }])
      expect(isDuplicateKey(await errorOf(cases.insertOne({ _id: 'e', current: [{ refs: [] }] })))).toBe(true)
      expect(isDuplicateKey(await errorOf(cases.insertOne({ _id: 'e', current: [{}] })))).toBe(true)
    })

    test('an unordered bulk carries out the others', async () => {
      await of('unique').insertMany([{ _id: 'a', hash: 1 }])
      const documents = [
        { _id: 'b', hash: 2 },
        { _id: 'a', hash: 3 },
        { _id: 'c', hash: 2 },
        { _id: 'd', hash: 4 },
      ]
      const error = (await errorOf(of('unique').insertMany(documents, { ordered: false }))) as MongoBulkWriteError
      expect(error).toBeInstanceOf(MongoBulkWriteError)
      expect(error).toBeInstanceOf(MongoServerError)
      expect(error.code).toBe(11_000)
      expect([error.writeErrors].flat().map(({ index, code }) => ({ index, code }))).toEqual([
        { index: 1, code: 11_000 },
        { index: 2, code: 11_000 },
      ])
      expect(error.result.insertedCount).toBe(2)
      expect(isDuplicateKey(error)).toBe(true)
      expect((await of('unique').find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id)).toEqual(['a', 'b', 'd'])
    })

    test('an ordered bulk stops at the first', async () => {
      const writes = [
        { insertOne: { document: { _id: 'a', hash: 1 } } },
        { updateOne: { filter: { _id: 'b' }, update: { $set: { hash: 1 } }, upsert: true } },
        { insertOne: { document: { _id: 'c', hash: 3 } } },
      ]
      const error = (await errorOf(of('unique').bulkWrite(writes))) as MongoBulkWriteError
      expect([error.writeErrors].flat().map(({ index, code }) => ({ index, code }))).toEqual([
        { index: 1, code: 11_000 },
      ])
      expect(error.result).toMatchObject({ insertedCount: 1, upsertedCount: 0 })
      expect(await of('unique').countDocuments()).toBe(1)
    })

    test('a bulk of updates says how many were carried out', async () => {
      await of('unique').insertMany([1, 2, 3].map(hash => ({ _id: `${hash}`, hash })))
      const writes = [
        { updateOne: { filter: { _id: '1' }, update: { $set: { n: 1 } } } },
        { updateOne: { filter: { _id: '2' }, update: { $set: { hash: 3 } } } },
        { updateOne: { filter: { _id: '3' }, update: { $set: { hash: 3 } } } },
        { updateOne: { filter: { _id: '4' }, update: { $set: { hash: 4 } } } },
        { updateOne: { filter: { _id: '5' }, update: { $set: { hash: 5 } }, upsert: true } },
      ]
      const error = (await errorOf(of('unique').bulkWrite(writes, { ordered: false }))) as MongoBulkWriteError
      expect(error.result).toMatchObject({ matchedCount: 2, modifiedCount: 1, upsertedCount: 1 })
      expect([error.writeErrors].flat().map(({ index }) => index)).toEqual([1])
    })

    test('a changed id', async () => {
      await of('things').insertOne({ _id: 'a' })
      expect(await errorOf(of('things').updateOne({ _id: 'a' }, { $set: { _id: 'b' } }))).toMatchObject({ code: 66 })
      const replacement = { _id: 'b' }
      expect(await errorOf(of('things').replaceOne({ _id: 'a' }, replacement))).toMatchObject({ code: 66 })
    })

    test('two operators on one field', async () => {
      await of('things').insertOne({ _id: 'a', n: 1 })
      const update = { $set: { n: 2 }, $unset: { n: '' } } as const
      expect(await errorOf(of('things').updateOne({ _id: 'a' }, update))).toMatchObject({ code: 40 })
    })

    test.each<[update: Document, code: number]>([
      [{ $push: { n: 1 } }, 2],
      [{ $push: { none: 1 } }, 2],
      [{ $addToSet: { n: 1 } }, 2],
      [{ $pull: { n: 1 } }, 2],
      [{ $inc: { none: 1 } }, 14],
      [{ $set: { 'n.x': 1 } }, 28],
      [{ $set: { 'none.x': 1 } }, 28],
      [{ $set: { 'list.x': 1 } }, 28],
    ])('%j on a value of another kind', async (update, code) => {
      await of('things').insertOne({ _id: 'a', n: 1, none: null, list: [1] })
      expect(await errorOf(of('things').updateOne({ _id: 'a' }, update))).toMatchObject({ code })
      expect(await of('things').findOne()).toEqual({ _id: 'a', n: 1, none: null, list: [1] })
    })

    test('a filter of array elements for an array that is missing', async () => {
      await of('things').insertOne({ _id: 'a' })
      const update = { $set: { 'current.$[held].n': 1 } }
      const arrayFilters = [{ 'held.version': 1 }]
      expect(await errorOf(of('things').updateOne({ _id: 'a' }, update, { arrayFilters }))).toMatchObject({ code: 2 })
    })

    test('a document that is too large', async () => {
      const text = 'x'.repeat(9 * 1_048_576)
      await of('things').insertOne({ _id: 'a', texts: [text] })
      const longer: Document = { $push: { texts: text } }
      const error = await errorOf(of('things').updateOne({ _id: 'a' }, longer))
      expect(error).toMatchObject({ name: 'MongoServerError', code: 10_334 })
      expect(isMongoUnavailable(error)).toBe(false)
      const insert = await errorOf(of('things').insertOne({ _id: 'b', texts: [text, text] }))
      expect(isMongoUnavailable(insert)).toBe(false)
      expect(await of('things').countDocuments()).toBe(1)
    })
  })
}
