import { expect, test } from 'vitest'
import { idempotencyReference, idsIn, objectReference } from './references.ts'

test.for([
  { name: 'without a site', site: undefined, id: 'pi_1' },
  { name: 'within a site', site: 'acme', id: 'sub-77' },
  { name: 'with a slash, without a site', site: undefined, id: 'a/b' },
  { name: 'with a slash, within a site', site: 'acme', id: 'a/b' },
])('an id $name is among those that its reference may stand for', ({ site, id }) => {
  expect(idsIn(objectReference('prj_1', 'subscription', site, id))).toContain(id)
})

test('a plain reference stands for one id', () => {
  expect(idsIn(objectReference('prj_1', 'processor', undefined, 'pi_1'))).toEqual(['pi_1'])
})

test.for([
  { name: 'an object', reference: objectReference('prj_1', 'processor', undefined, 'pi_\ud800') },
  { name: 'an object of a site', reference: objectReference('prj_1', 'subscription', 'acme', '\udfff1') },
  { name: 'an idempotency key', reference: idempotencyReference('prj_1', 'processor', 'k\ud800') },
])('the reference of $name stays what it is when it is stored as UTF-8', ({ reference }) => {
  expect(Buffer.from(reference).toString()).toBe(reference)
})
