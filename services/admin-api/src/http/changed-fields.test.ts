import { Secret } from '@backstop/kit/config'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import { expect, test } from 'vitest'
import { listChangedFields } from './changed-fields.ts'

const box = createSecretBox(parseKeyRing(new Secret(`k1:${Buffer.alloc(32, 7).toString('base64')}`)))
const place = { collection: 'connections', id: 'con_1', field: 'read_key', projectId: 'prj_1' } as const

test('lists the fields that differ, with their old and new values', () => {
  const before = { _id: 'a', name: 'Shop', scopes: ['read'], version: 1, expires_at: null, note: 'x' }
  const after = { _id: 'a', name: 'Shop', scopes: ['admin'], version: 2, expires_at: new Date(0) }
  expect(listChangedFields('a', before, after)).toEqual([
    { resource: 'a', field: 'scopes', from: ['read'], to: ['admin'] },
    { resource: 'a', field: 'expires_at', from: null, to: '1970-01-01T00:00:00.000Z' },
    { resource: 'a', field: 'note', from: 'x', to: null },
  ])
})

test('a new document changes from nothing, and a removed one to nothing', () => {
  expect(listChangedFields('a', undefined, { name: 'x', removed: null })).toEqual([
    { resource: 'a', field: 'name', from: null, to: 'x' },
  ])
  expect(listChangedFields('a', { name: 'x' }, undefined)).toEqual([
    { resource: 'a', field: 'name', from: 'x', to: null },
  ])
})

test('shows of secrets and hashes only a fingerprint, at any depth', () => {
  const sealed = box.seal(new Secret('sk_live_canary'), place)
  const other = box.seal(new Secret('sk_live_other'), place)
  const fields = listChangedFields(
    'a',
    { hash: 'a'.repeat(64), read_key: sealed, config: { headers: [{ value: sealed }] } },
    { hash: 'b'.repeat(64), read_key: other, config: { headers: [{ value: other }] } },
  )
  expect(fields).toHaveLength(3)
  const text = JSON.stringify(fields)
  for (const hidden of [sealed, other, 'aaaa', 'bbbb', 'canary']) expect(text).not.toContain(hidden)
  expect(text.match(/secret [0-9a-f]{8}/g)).toHaveLength(6)
})

test('shows of a long list only the items that changed', () => {
  const settings = (own: object) => [
    ...Array.from({ length: 1_000 }, (_, index) => ({ account: `acct_${index}` })),
    own,
  ]
  const [field] = listChangedFields('a', { list: settings({ x: 1 }) }, { list: settings({ x: 2 }) })
  expect(field).toEqual({ resource: 'a', field: 'list', from: [{ x: 1 }], to: [{ x: 2 }] })
})

test('truncates a long value', () => {
  const [field] = listChangedFields('a', undefined, { note: 'x'.repeat(10_000) })
  expect(String(field?.to).length).toBeLessThan(2_100)
})
