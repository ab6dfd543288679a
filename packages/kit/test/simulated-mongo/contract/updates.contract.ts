import type { Document } from 'mongodb'
import { describe, expect, test } from 'vitest'
import type { ContractSubject } from './test-database.ts'

const AT = new Date('2026-01-02T03:04:05.678Z')
const LATER = new Date('2026-02-02T03:04:05.678Z')

/** The document after each kind of update that the product makes. */
export function describeUpdates({ of }: ContractSubject): void {
  describe('updates', () => {
    test.each<{
      name: string
      before?: object
      update: Document | Document[]
      after: object | null
      arrayFilters?: Document[]
    }>([
      {
        name: '$set of a nested path',
        before: { a: { b: 1 } },
        update: { $set: { 'a.c': 2, d: [1] } },
        after: { a: { b: 1, c: 2 }, d: [1] },
      },
      { name: '$set of a new path', before: {}, update: { $set: { 'a.b.c': 1 } }, after: { a: { b: { c: 1 } } } },
      {
        name: '$set of an element',
        before: { a: [{ n: 1 }, { n: 2 }] },
        update: { $set: { 'a.1.n': 3 } },
        after: { a: [{ n: 1 }, { n: 3 }] },
      },
      {
        name: '$set with undefined',
        before: { n: 1 },
        update: { $set: { m: undefined, k: 1 } },
        after: { n: 1, k: 1 },
      },
      {
        name: '$unset',
        before: { a: { b: 1, c: 2 }, d: 1 },
        update: { $unset: { 'a.b': '', d: 1, e: 1 } },
        after: { a: { c: 2 } },
      },
      {
        name: '$inc',
        before: { n: 1 },
        update: { $inc: { n: 2, m: 3, 'a.b': -1 } },
        after: { n: 3, m: 3, a: { b: -1 } },
      },
      {
        name: '$min',
        before: { at: LATER, n: 1 },
        update: { $min: { at: AT, n: 2, first: AT } },
        after: { at: AT, n: 1, first: AT },
      },
      {
        name: '$max',
        before: { at: AT, n: 1, none: null },
        update: { $max: { at: LATER, n: 0, first: AT, none: AT } },
        after: { at: LATER, n: 1, first: AT, none: AT },
      },
      {
        name: '$push',
        before: { list: [1] },
        update: { $push: { list: 2, fresh: { a: 1 } } },
        after: { list: [1, 2], fresh: [{ a: 1 }] },
      },
      {
        name: '$push of several',
        before: { list: [1] },
        update: { $push: { list: { $each: [2, 3] } } },
        after: { list: [1, 2, 3] },
      },
      { name: '$push of none', before: {}, update: { $push: { list: { $each: [] } } }, after: { list: [] } },
      {
        name: '$pull by ids',
        before: { list: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] },
        update: { $pull: { list: { id: { $in: ['a', 'c'] } } } },
        after: { list: [{ id: 'b' }] },
      },
      {
        name: '$pull by a bound',
        before: { list: [{ at: AT }, { at: LATER }, { at: null }, {}] },
        update: { $pull: { list: { at: { $lte: AT } } } },
        after: { list: [{ at: LATER }, { at: null }, {}] },
      },
      { name: '$pull of a missing array', before: { n: 1 }, update: { $pull: { list: { id: 'a' } } }, after: { n: 1 } },
      {
        name: '$pull in each element',
        before: { current: [{ outbox: [{ id: 'a' }, { id: 'b' }] }, { outbox: [{ id: 'a' }] }] },
        update: { $pull: { 'current.$[].outbox': { id: { $in: ['a'] } } } },
        after: { current: [{ outbox: [{ id: 'b' }] }, { outbox: [] }] },
      },
      {
        name: '$addToSet',
        before: { ids: ['a', 'b'] },
        update: { $addToSet: { ids: { $each: ['b', 'c', 'c'] }, fresh: 'x' } },
        after: { ids: ['a', 'b', 'c'], fresh: ['x'] },
      },
      {
        name: '$setOnInsert of a document that exists',
        before: { n: 1 },
        update: { $set: { n: 2 }, $setOnInsert: { m: 1 } },
        after: { n: 2 },
      },
      {
        name: 'an array filter',
        before: {
          current: [
            { version: 1, outbox: [1], look: 2 },
            { version: 2, outbox: [] },
          ],
        },
        update: {
          $set: { 'current.$[held].version': 3 },
          $min: { 'current.$[held].until': AT },
          $push: { 'current.$[held].outbox': { $each: [5] } },
          $unset: { 'current.$[held].look': '' },
        },
        arrayFilters: [{ 'held.version': 1 }],
        after: {
          current: [
            { version: 3, outbox: [1, 5], until: AT },
            { version: 2, outbox: [] },
          ],
        },
      },
      {
        name: 'an array filter that no element matches',
        before: { current: [{ version: 1 }] },
        update: { $set: { 'current.$[held].n': 3 }, $push: { 'current.$[held].outbox': 1 } },
        arrayFilters: [{ 'held.version': 2 }],
        after: { current: [{ version: 1 }] },
      },
      {
        name: 'a filter by type',
        before: { a: [{ error: 'x' }, { error: null }] },
        update: { $set: { 'a.$[failed].error': 'y' } },
        arrayFilters: [{ 'failed.error': { $type: 'string' } }],
        after: { a: [{ error: 'y' }, { error: null }] },
      },
      {
        name: 'a pipeline with $$REMOVE',
        before: { n: 1, m: 2 },
        update: [{ $set: { n: '$$REMOVE', k: { $ifNull: ['$j', '$m', 0] } } }],
        after: { m: 2, k: 2 },
      },
      {
        name: 'a literal that looks like an expression',
        before: {},
        update: [{ $set: { n: { $literal: '$m' }, o: { $literal: { $add: [1, 2] } } } }],
        after: { n: '$m', o: { $add: [1, 2] } },
      },
      {
        name: '$max of dates and null',
        before: { at: AT, none: null },
        update: [
          {
            $set: {
              at: { $max: ['$at', LATER, null] },
              none: { $max: ['$none', null] },
              missing: { $max: ['$x', AT] },
            },
          },
        ],
        after: { at: LATER, none: null, missing: AT },
      },
      {
        name: '$cond of a missing field',
        before: { held: { since: AT } },
        update: [
          {
            $set: {
              held: { $cond: [{ $gt: ['$held.since', LATER] }, '$held', '$$REMOVE'] },
              a: { $cond: [{ $gte: ['$x', AT] }, 1, 2] },
              b: { $gt: [AT, null] },
              c: { $lt: ['$x', null] },
            },
          },
        ],
        after: { a: 2, b: true, c: true },
      },
      {
        name: '$filter',
        before: { outbox: [{ id: 'a' }, { id: 'b' }], at: AT },
        update: [
          { $set: { outbox: { $filter: { input: '$outbox', cond: { $not: [{ $in: ['$$this.id', ['a', 'b']] }] } } } } },
          { $set: { at: { $cond: [{ $eq: ['$outbox', []] }, '$$REMOVE', '$at'] } } },
        ],
        after: { outbox: [] },
      },
      {
        name: 'objects of counts',
        before: { days: { '2026-01-01': 1, '2026-01-02': { ok: 2 } } },
        update: [
          {
            $set: {
              days: {
                $arrayToObject: {
                  $filter: {
                    input: {
                      $objectToArray: {
                        $mergeObjects: [
                          { $ifNull: ['$days', {}] },
                          { '2026-01-03': { $add: [1, { $ifNull: ['$days.2026-01-02.ok', 0] }] } },
                        ],
                      },
                    },
                    cond: { $gte: ['$$this.k', '2026-01-02'] },
                  },
                },
              },
            },
          },
        ],
        after: { days: { '2026-01-02': { ok: 2 }, '2026-01-03': 3 } },
      },
      {
        name: '$replaceWith',
        before: { n: 1, m: 2 },
        update: [
          {
            $replaceWith: {
              $mergeObjects: [
                '$$ROOT',
                { n: 3 },
                { list: { $concatArrays: [{ $ifNull: ['$list', []] }, { $literal: [1] }] } },
              ],
            },
          },
        ],
        after: { n: 3, m: 2, list: [1] },
      },
    ])('$name', async ({ before = {}, update, after, arrayFilters }) => {
      await of('things').insertOne({ _id: 'a', ...before })
      await of('things').updateOne({ _id: 'a' }, update, arrayFilters === undefined ? {} : { arrayFilters })
      expect(await of('things').findOne()).toEqual({ _id: 'a', ...after })
    })
  })
}
