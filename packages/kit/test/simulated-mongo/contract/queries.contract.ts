import { type Document, MaxKey } from 'mongodb'
import { describe, expect, test } from 'vitest'
import type { ContractSubject, Thing } from './test-database.ts'

const AT = new Date('2026-01-02T03:04:05.678Z')
const LATER = new Date('2026-02-02T03:04:05.678Z')

/** What MongoDB finds. */
export function describeQueries({ of }: ContractSubject): void {
  describe('queries', () => {
    const ids = async (filter: Document) =>
      (await of('things').find(filter).sort({ _id: 1 }).toArray()).map(({ _id }) => _id).join(' ')

    test.each<[filter: Document, found: string]>([
      [{ at: AT }, 'date'],
      [{ at: null }, 'list missing null'],
      [{ at: { $ne: null } }, 'date later number text'],
      [{ at: { $eq: null } }, 'list missing null'],
      [{ at: { $in: [null, 5] } }, 'list missing null number'],
      [{ at: { $nin: [null, 5] } }, 'date later text'],
      [{ at: { $exists: true } }, 'date later null number text'],
      [{ at: { $exists: false } }, 'list missing'],
      [{ at: { $gte: AT } }, 'date later'],
      [{ at: { $lt: LATER } }, 'date'],
      [{ at: { $lt: 6 } }, 'number'],
      [{ at: { $not: { $gte: AT } } }, 'list missing null number text'],
      [{ at: { $type: 'date' } }, 'date later'],
      [{ at: { $type: 'string' } }, 'text'],
      [{ at: { $type: 'number' } }, 'number'],
      [{ at: { $gt: 'a' } }, 'text'],
      [{ at: { $gte: 5, $ne: 5 } }, ''],
      [{ at: { $in: [5, 'text'], $ne: 5 } }, 'text'],
      [{ at: { $not: { $gt: 4, $lt: 6 } } }, 'date later list missing null text'],
      [{ at: /^te/ }, 'text'],
      [{ at: { $not: /^te/ } }, 'date later list missing null number'],
      [{ tags: 'x' }, 'list'],
      [{ tags: { $in: ['y', 'z'] } }, 'list'],
      [{ tags: ['x', 'y'] }, 'list'],
      [{ tags: ['y', 'x'] }, ''],
      [{ tags: { $size: 2 } }, 'list'],
      [{ tags: { $ne: 'x' } }, 'date later missing null number text'],
      [{ tags: { $nin: ['y', 'z'] } }, 'date later missing null number text'],
      [{ tags: null }, 'date later missing null number text'],
      [{ empty: null }, 'date later missing null number text'],
      [{ empty: { $ne: null } }, 'list'],
      [{ 'current.n': { $ne: 9 } }, 'date later missing null number text'],
      [{ 'current.look': null }, 'date later list missing null number text'],
      [{ 'current.n': null }, 'date later missing null number text'],
      [{ 'numbers.n': null }, 'date later missing null number text'],
      [{ 'at.n': null }, 'date later list missing null number text'],
      [{ 'tags.0': { $exists: true } }, 'list'],
      [{ 'tags.0': 'x' }, 'list'],
      [{ 'current.1.n': { $gt: 5 } }, 'list'],
      [{ 'tags.2': { $exists: true } }, ''],
      [{ 'held.since': AT }, 'later'],
      [{ held: { $type: 'object' } }, 'later'],
      [{ 'current.version': 2 }, 'list'],
      [{ 'current.version': { $gt: 1, $lt: 3 } }, 'list'],
      // Two elements may meet one half each.
      [{ 'current.n': { $gt: 5, $lt: 3 } }, 'list'],
      [{ current: { $elemMatch: { n: { $gt: 5, $lt: 3 } } } }, ''],
      [{ current: { $elemMatch: { version: 1, n: 1, look: { $exists: false } } } }, 'list'],
      [{ 'current.look': { $exists: false } }, 'date later list missing null number text'],
      [{ $or: [{ at: AT }, { 'current.version': 2 }] }, 'date list'],
      [{ $or: [{ at: AT }, { held: { $elemMatch: { since: AT } } }, { 'held.since': AT }] }, 'date later'],
      [{ $and: [{ at: { $gte: AT } }, { held: { $exists: true } }] }, 'later'],
      [{ _id: { $gt: 'later' } }, 'list missing null number text'],
      [{ $expr: { $lte: [{ $bsonSize: '$$ROOT' }, 30] } }, 'missing null number'],
      [{ $expr: { $gt: ['$at', AT] } }, 'later'],
    ])('%j', async (filter, found) => {
      await of('things').insertMany([
        { _id: 'date', at: AT, filler: 1 },
        { _id: 'later', at: LATER, held: { since: AT } },
        { _id: 'null', at: null },
        { _id: 'missing' },
        { _id: 'number', at: 5 },
        { _id: 'text', at: 'text' },
        {
          _id: 'list',
          tags: ['x', 'y'],
          empty: [],
          numbers: [1, 2],
          current: [
            { version: 1, n: 1 },
            { version: 2, n: 9 },
          ],
        },
      ])
      expect(await ids(filter)).toBe(found)
    })

    test('the order of values of different kinds, and of arrays', async () => {
      const values = [AT, 'b', 'B', '\uffff', '\u{10000}', 10, 9.5, null, undefined, true, { a: 1 }, [3, 20], [0]]
      await of('things').insertMany(values.map((value, index) => ({ _id: String(index).padStart(2, '0'), value })))
      const order = async (direction: 1 | -1) =>
        (await of('things').find().sort({ value: direction, _id: 1 }).toArray()).map(({ _id }) => Number(_id))
      expect(await order(1)).toEqual([7, 8, 12, 11, 6, 5, 2, 1, 3, 4, 10, 9, 0])
      expect(await order(-1)).toEqual([0, 9, 10, 4, 3, 1, 2, 11, 5, 6, 12, 7, 8])
    })

    test('several keys of an order, skip and limit', async () => {
      await of('things').insertMany(
        [
          ['a', 1],
          ['b', 2],
          ['c', 1],
          ['d', 2],
        ].map(([_id, n]) => ({ _id: `${_id}`, n })),
      )
      const found = of('things').find().sort({ n: -1, _id: 1 })
      expect((await found.toArray()).map(({ _id }) => _id)).toEqual(['b', 'd', 'a', 'c'])
      expect(
        (await of('things').find().sort({ n: -1, _id: 1 }).skip(1).limit(2).toArray()).map(({ _id }) => _id),
      ).toEqual(['d', 'a'])
      expect(
        (
          await of('things')
            .find({}, { sort: { _id: -1 }, limit: 1 })
            .toArray()
        ).map(({ _id }) => _id),
      ).toEqual(['d'])
      expect(await of('things').findOne({ n: 2 }, { sort: { _id: -1 } })).toEqual({ _id: 'd', n: 2 })
      expect(await of('things').findOne({ n: 3 })).toBeNull()
      expect(await of('things').countDocuments({ n: 1 })).toBe(2)
      expect(await of('things').countDocuments({}, { limit: 3 })).toBe(3)
    })

    test.each<[projection: Document, found: object]>([
      [{ _id: 1 }, { _id: 'a' }],
      [{ n: 1 }, { _id: 'a', n: 1 }],
      [{ _id: 0, n: 1, x: 1 }, { n: 1 }],
      [{ 'inner.b': 1 }, { _id: 'a', inner: { b: 2 } }],
      [{ 'list.id': 1 }, { _id: 'a', list: [{ id: 1 }, {}] }],
      [
        { list: 0, inner: 0 },
        { _id: 'a', n: 1, flat: [1, 2] },
      ],
      [
        { 'list.id': 0, inner: 0, flat: 0 },
        { _id: 'a', n: 1, list: [{ n: 1 }, { n: 2 }] },
      ],
      [{ 'flat.x': 1 }, { _id: 'a', flat: [] }],
      [{ 'n.x': 1 }, { _id: 'a' }],
    ])('projection %j', async (projection, found) => {
      await of('things').insertOne({
        _id: 'a',
        n: 1,
        inner: { b: 2, c: 3 },
        list: [{ id: 1, n: 1 }, { n: 2 }],
        flat: [1, 2],
      })
      expect(await of('things').findOne({}, { projection })).toEqual(found)
      expect(await of('things').find().project(projection).toArray()).toEqual([found])
    })

    test('documents come in batches of the given size', async () => {
      await of('things').insertMany(Array.from({ length: 5 }, (_, n) => ({ _id: `${n}` })))
      const cursor = of('things')
        .find({}, { batchSize: 2, projection: { _id: 1 } })
        .sort({ _id: 1 })
      const batches: Thing[][] = []
      while (await cursor.hasNext()) batches.push(cursor.readBufferedDocuments())
      await cursor.close()
      expect(batches.map(batch => batch.map(({ _id }) => _id))).toEqual([['0', '1'], ['2', '3'], ['4']])
      const seen: string[] = []
      for await (const { _id } of of('things').find().sort({ _id: 1 })) seen.push(_id)
      expect(seen).toHaveLength(5)
    })

    test('bounds of an index of arrays give each entry between them, in the order of the index', async () => {
      const end = new MaxKey() as never
      await of('things').insertMany([
        { _id: 'a', project: 'p', search: ['pi_1', 'pi_2'], at: AT },
        { _id: 'b', project: 'p', search: ['pi_1'], at: LATER },
        { _id: 'c', project: 'p', search: ['pi', 'x'], at: AT },
        { _id: 'd', project: 'q', search: ['pi_1'], at: AT },
        { _id: 'e', project: 'p', at: AT },
      ])
      const search = async (from: Document, prefix: string) =>
        (
          await of('things')
            .find({}, { projection: { _id: 1 } })
            .hint({ project: 1, search: 1, at: -1, _id: -1 })
            .min({ project: 'p', ...from })
            .max({ project: 'p', search: `${prefix}\u{10ffff}`, at: end, _id: end })
            .limit(5)
            .toArray()
        ).map(({ _id }) => _id)
      expect(await search({ search: 'pi', at: end, _id: end }, 'pi')).toEqual(['c', 'b', 'a'])
      expect(await search({ search: 'pi_1', at: AT, _id: 'a' }, 'pi')).toEqual(['a'])
      expect(await search({ search: 'pi_1', at: LATER, _id: 'b' }, 'pi_1')).toEqual(['b', 'a'])
      expect(await search({ search: 'y', at: end, _id: end }, 'y')).toEqual([])
    })

    test('ranges of an index of arrays in the order of the branches of a hinted $or, each document once', async () => {
      await of('things').insertMany([
        { _id: 'a', project: 'p', search: ['2/pi_1', '2/pi_2'], at: AT },
        { _id: 'b', project: 'p', search: ['2/pi_1'], at: LATER },
        { _id: 'c', project: 'p', search: ['1/pi_3', '1/pi_1'], at: AT },
        { _id: 'd', project: 'q', search: ['1/pi_1'], at: AT },
        { _id: 'e', project: 'p', search: ['1/pi', '3/pi_1'], at: AT },
      ])
      const search = async (condition: (mark: string) => Document, ...marks: readonly string[]) =>
        (
          await of('things')
            .find({ $or: marks.map(mark => ({ project: 'p', search: { $elemMatch: condition(mark) } })) } as object)
            .hint({ project: 1, search: 1, at: -1, _id: -1 })
            .limit(5)
            .toArray()
        ).map(({ _id }) => _id)
      const longer = (mark: string) => ({ $gt: `${mark}/pi`, $lt: `${mark}/pi\u{10ffff}` })
      const equalToo = (mark: string) => ({ $gte: `${mark}/pi`, $lt: `${mark}/pi\u{10ffff}` })
      expect(await search(longer, '2', '1', '3')).toEqual(['b', 'a', 'c', 'e'])
      expect(await search(longer, '3', '1', '2')).toEqual(['e', 'c', 'b', 'a'])
      expect(await search(equalToo, '1', '2')).toEqual(['e', 'c', 'b', 'a'])
    })

    test('distinct values, also of arrays', async () => {
      await of('things').insertMany([
        { _id: 'a', n: ['x', 'y'] },
        { _id: 'b', n: 'x' },
        { _id: 'c' },
        { _id: 'd', n: null },
      ])
      expect((await of('things').distinct('n')).sort()).toEqual([null, 'x', 'y'].sort())
      expect(await of('things').distinct('n', { _id: 'c' })).toEqual([])
    })

    test.each<{ name: string; pipeline: Document[]; found: object[] }>([
      {
        name: 'groups',
        pipeline: [
          { $match: { n: { $exists: true } } },
          {
            $group: {
              _id: '$n',
              count: { $sum: 1 },
              sum: { $sum: '$m' },
              oldest: { $min: '$at' },
              newest: { $max: '$at' },
            },
          },
          { $sort: { _id: 1 } },
        ],
        found: [
          { _id: 1, count: 2, sum: 3, oldest: AT, newest: LATER },
          { _id: 2, count: 1, sum: 0, oldest: null, newest: null },
        ],
      },
      {
        name: 'groups by a missing field',
        pipeline: [
          { $group: { _id: { n: '$n', x: '$x' }, count: { $sum: { $cond: [{ $gt: ['$m', 1] }, 1, 0] } } } },
          { $sort: { '_id.n': 1 } },
        ],
        found: [
          { _id: {}, count: 0 },
          { _id: { n: 1 }, count: 1 },
          { _id: { n: 2 }, count: 0 },
        ],
      },
      {
        name: 'the newest of each group',
        pipeline: [
          { $match: { n: 1 } },
          { $group: { _id: '$n', found: { $topN: { n: 1, sortBy: { at: -1 }, output: '$$ROOT' } } } },
          { $unwind: '$found' },
          { $replaceWith: '$found' },
          { $project: { at: 1 } },
        ],
        found: [{ _id: 'b', at: LATER }],
      },
      {
        name: 'a limit',
        pipeline: [{ $match: {} }, { $limit: 3 }, { $group: { _id: null, count: { $sum: 1 } } }],
        found: [{ _id: null, count: 3 }],
      },
      {
        name: 'a group of nothing',
        pipeline: [{ $match: { _id: 'x' } }, { $group: { _id: null, count: { $sum: 1 } } }],
        found: [],
      },
      {
        name: 'computed fields',
        pipeline: [
          { $match: { _id: 'b' } },
          {
            $project: {
              _id: 0,
              id: '$_id',
              isNew: { $gte: ['$at', LATER] },
              ms: { $toLong: { $subtract: [{ $toDate: '$text' }, '$at'] } },
              day: { $concat: ['x-', { $toLower: 'ABC' }] },
              first: { $first: { $filter: { input: '$list', as: 'entry', cond: { $eq: ['$$entry.k', 2] } } } },
              none: { $first: { $filter: { input: { $ifNull: ['$nothing', []] }, as: 'entry', cond: true } } },
              size: { $strLenBytes: { $toString: { $toLong: 12345 } } },
              cut: { $trunc: [12_345, -3] },
              least: { $min: [0, { $subtract: [2, 5] }] },
            },
          },
        ],
        found: [
          { id: 'b', isNew: true, ms: 1_000, day: 'x-abc', first: { k: 2, v: 'w' }, size: 5, cut: 12_000, least: -3 },
        ],
      },
      {
        name: 'a join by an array',
        pipeline: [
          { $match: { _id: 'a' } },
          {
            $set: {
              keys: {
                $map: { input: { $ifNull: ['$to', []] }, in: { $concat: ['$project', '/', { $toLower: '$$this' }] } },
              },
            },
          },
          {
            $lookup: {
              from: 'unique',
              localField: 'keys',
              foreignField: '_id',
              as: 'joined',
              pipeline: [{ $match: { reason: { $ne: null } } }, { $project: { reason: 1 } }],
            },
          },
          { $unset: ['keys', 'to', 'project', 'n', 'm', 'at'] },
        ],
        found: [{ _id: 'a', joined: [{ _id: 'p/x', reason: 1 }] }],
      },
      {
        name: 'a join that finds nothing',
        pipeline: [
          { $match: { _id: 'c' } },
          { $lookup: { from: 'unique', localField: 'at', foreignField: 'hash', as: 'joined' } },
          { $project: { joined: { _id: 1 } } },
        ],
        found: [{ _id: 'c', joined: [{ _id: 'p/z' }] }],
      },
    ])('aggregation: $name', async ({ pipeline, found }) => {
      await of('things').insertMany([
        { _id: 'a', n: 1, m: 1, at: AT, project: 'p', to: ['X', 'Y', 'Z'] },
        {
          _id: 'b',
          n: 1,
          m: 2,
          at: LATER,
          text: '2026-02-02T03:04:06.678Z',
          list: [
            { k: 1, v: 'v' },
            { k: 2, v: 'w' },
          ],
        },
        { _id: 'c', n: 2 },
        { _id: 'd' },
      ])
      await of('unique').insertMany([
        { _id: 'p/x', hash: 1, reason: 1 },
        { _id: 'p/y', hash: 2, reason: null },
        { _id: 'p/z' },
        { _id: 'q/x', hash: 3, reason: 2 },
      ])
      expect(await of('things').aggregate(pipeline).toArray()).toEqual(found)
    })
  })
}
