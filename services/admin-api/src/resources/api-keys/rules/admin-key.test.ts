import { describe, expect, test } from 'vitest'
import { decideRevocation } from './admin-key.ts'

const now = new Date('2026-11-21T10:00:00Z')
const key = (id: string, more: object = {}) => ({
  _id: id,
  scopes: ['admin'],
  project_id: null,
  expires_at: null,
  revoked_at: null,
  ...more,
})
const until = (time: string) => ({ expires_at: new Date(time) })

describe('a key may be revoked', () => {
  test.each([
    { name: 'that has not the scope admin', revoked: key('a', { scopes: ['read', 'manage'] }) },
    { name: 'that is bound to a project', revoked: key('a', { project_id: 'prj_1' }) },
    { name: 'that has expired', revoked: key('a', until('2026-11-21T10:00:00Z')) },
  ])('$name, whatever else there is', ({ revoked }) => {
    expect(decideRevocation(revoked, [revoked], now)).toEqual({ kind: 'allowed', successorId: null })
  })

  test('that administers all projects may be revoked if another does: the successor is the key that expires last', () => {
    const all = [key('a'), key('b', until('2027-01-01')), key('c'), key('d', until('2026-12-01'))]
    expect(decideRevocation(key('a'), all, now)).toEqual({ kind: 'allowed', successorId: 'c' })
    expect(decideRevocation(key('c'), all.slice(1), now)).toEqual({ kind: 'allowed', successorId: 'b' })
  })
})

test.each([
  { name: 'there is no other key', others: [] },
  { name: 'the others have expired', others: [key('b', until('2026-11-21T09:59:59Z'))] },
  { name: 'the others are revoked', others: [key('b', { revoked_at: now })] },
  { name: 'the others are bound to a project', others: [key('b', { project_id: 'prj_1' })] },
  { name: 'the others have not the scope admin', others: [key('b', { scopes: ['manage', 'approvals:write'] })] },
])('a usable admin key may not be revoked where $name', ({ others }) => {
  expect(decideRevocation(key('a'), [key('a'), ...others], now)).toEqual({ kind: 'refused', reason: 'last_admin_key' })
})
