import { expect, test } from 'vitest'
import { describeMissingRights, findMissingRights, type Privilege } from './granted-rights.ts'

const on = (resource: Privilege['resource'], ...actions: string[]): Privilege => ({ resource, actions })
const names = { db: 'backstop', collections: ['actions', 'incidents'] }
const wanted = [
  { collection: '', actions: ['listIndexes'] },
  { collection: 'incidents', actions: ['find', 'update'] },
] as const
const indexes = on({ db: 'backstop', collection: '' }, 'listIndexes')

test.each([
  {
    name: 'a right on the collection',
    has: [indexes, on({ db: 'backstop', collection: 'incidents' }, 'find', 'update')],
  },
  { name: 'a right on the database', has: [on({ db: 'backstop', collection: '' }, 'find', 'update', 'listIndexes')] },
  { name: 'a right on all databases', has: [on({ db: '', collection: '' }, 'find', 'update', 'listIndexes')] },
  { name: 'a right on everything', has: [on({ anyResource: true }, 'anyAction')] },
  {
    name: 'a right on each collection instead of the database',
    has: [
      on({ db: 'backstop', collection: 'actions' }, 'listIndexes'),
      on({ db: 'backstop', collection: 'incidents' }, 'find', 'update', 'listIndexes'),
    ],
  },
])('$name is enough', ({ has }) => {
  expect(findMissingRights(has, wanted, names)).toEqual([])
})

test.each([
  { name: 'read only', has: [indexes, on({ db: 'backstop', collection: 'incidents' }, 'find')], missing: ['update'] },
  { name: 'another collection', has: [indexes, on({ db: 'backstop', collection: 'x' }, 'find', 'update')] },
  { name: 'another database', has: [indexes, on({ db: 'other', collection: 'incidents' }, 'find', 'update')] },
  { name: 'the cluster', has: [indexes, on({}, 'find', 'update')] },
])('a right on $name is not enough', ({ has, missing = ['find', 'update'] }) => {
  expect(findMissingRights(has, wanted, names)).toEqual([{ collection: 'incidents', actions: missing }])
})

test('only a right on the database lets a user follow its changes', () => {
  const has = names.collections.map(collection => on({ db: 'backstop', collection }, 'changeStream'))
  const follow = [{ collection: '', actions: ['changeStream'] }] as const
  expect(findMissingRights(has, follow, names)).toEqual(follow)
})

test('the message names the user, the actions and the first collections', () => {
  const missing = (['actions', 'incidents', 'inbox', 'sweeps', 'erasures'] as const).map(collection => ({
    collection,
    actions: ['insert'],
  }))
  expect(describeMissingRights('reconciler', missing)).toBe(
    'MongoDB does not let the user reconciler run insert on actions; insert on incidents; insert on inbox; and on 2 more collections: give it this right (docs/rights.md)',
  )
})
