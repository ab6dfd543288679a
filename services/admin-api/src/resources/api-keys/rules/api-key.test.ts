import type { ApiKeyDocument } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { endOfWarning, isWarningDue, rotateKey, showApiKey } from './api-key.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const now = new Date('2026-11-21T10:00:00Z')
const after = (ms: number) => new Date(now.getTime() + ms)
const key = (more: Partial<ApiKeyDocument> = {}): ApiKeyDocument => ({
  _id: 'key_1',
  name: 'Billing job',
  hash: 'old',
  hint: 'bsk_old1',
  scopes: ['read'],
  project_id: null,
  created_at: after(-83 * DAY_MS),
  created_by: 'key_bootstrap',
  expires_at: after(7 * DAY_MS),
  last_used_at: after(-60_000),
  rotated_at: null,
  previous_hash: null,
  previous: null,
  revoked_at: null,
  revoked_by: null,
  warned_expiry: null,
  version: 1,
  updated_at: after(-83 * DAY_MS),
  ...more,
})
const next = { hash: 'new', hint: 'bsk_new1', expiresAt: after(90 * DAY_MS) }

describe('a rotated key', () => {
  test('accepts the previous secret until the overlap ends', () => {
    expect(rotateKey(key(), next, 24 * HOUR_MS, now)).toEqual({
      kind: 'rotated',
      fields: {
        hash: 'new',
        hint: 'bsk_new1',
        expires_at: next.expiresAt,
        rotated_at: now,
        last_used_at: null,
        previous_hash: 'old',
        previous: { hint: 'bsk_old1', expires_at: after(24 * HOUR_MS), last_used_at: after(-60_000) },
      },
    })
  })

  test('accepts the previous secret no longer than its own expiry', () => {
    const rotation = rotateKey(key({ expires_at: after(HOUR_MS) }), next, 24 * HOUR_MS, now)
    expect(rotation).toMatchObject({ fields: { previous: { expires_at: after(HOUR_MS) } } })
  })

  test.each([
    { name: 'without an overlap', overlapMs: 0, expires_at: null },
    { name: 'that had expired', overlapMs: HOUR_MS, expires_at: after(-1) },
  ])('$name accepts only the new secret', ({ overlapMs, expires_at }) => {
    const rotation = rotateKey(key({ expires_at }), next, overlapMs, now)
    expect(rotation).toMatchObject({ fields: { previous_hash: null, previous: null } })
  })

  test('keeps accepting the previous secret if the new one is replaced before its first use', () => {
    const previous = { hint: 'bsk_old1', expires_at: after(HOUR_MS), last_used_at: now }
    const unused = key({ hash: 'lost', hint: 'bsk_lost', last_used_at: null, previous_hash: 'old', previous })
    const rotation = rotateKey(unused, next, 24 * HOUR_MS, now)
    expect(rotation).toMatchObject({ fields: { hash: 'new', previous_hash: 'old', previous } })
    expect(rotateKey(unused, next, 0, now)).toMatchObject({ fields: { previous_hash: null } })
  })

  test('is refused if it is revoked', () => {
    expect(rotateKey(key({ revoked_at: now }), next, 0, now)).toEqual({ kind: 'refused', reason: 'revoked' })
  })

  test('shows the previous secret only while it is accepted', () => {
    const rotated = key({ previous_hash: 'old', previous: { hint: 'h', expires_at: after(1), last_used_at: null } })
    expect(showApiKey(rotated, now).previous).toMatchObject({ hint: 'h' })
    expect(showApiKey(rotated, after(1)).previous).toBeNull()
    expect(showApiKey({ ...rotated, revoked_at: now }, now).previous).toBeNull()
  })
})

test.each([
  { name: 'never expires', given: { expires_at: null }, at: now, isDue: false },
  { name: 'expires in more than 7 days', given: { expires_at: after(7 * DAY_MS + 1) }, at: now, isDue: false },
  { name: 'expires in 7 days', given: {}, at: now, isDue: true },
  { name: 'has expired', given: { expires_at: now }, at: now, isDue: false },
  {
    name: 'was made for a day',
    given: { created_at: now, expires_at: after(DAY_MS) },
    at: after(17 * HOUR_MS),
    isDue: false,
  },
  {
    name: 'was made for a day, and has 6 hours left',
    given: { created_at: now, expires_at: after(DAY_MS) },
    at: after(18 * HOUR_MS),
    isDue: true,
  },
])('whether a warning is due for a key that $name: $isDue', ({ given, at, isDue }) => {
  expect(isWarningDue(key(given), at)).toBe(isDue)
})

test.each([
  { name: 'nobody was warned about', given: {}, end: undefined },
  { name: 'still expires then', given: { warned_expiry: after(7 * DAY_MS) }, end: undefined },
  { name: 'was rotated', given: { warned_expiry: after(DAY_MS) }, end: 'rotated' },
  { name: 'was revoked', given: { warned_expiry: after(7 * DAY_MS), revoked_at: now }, end: 'revoked' },
  { name: 'has expired', given: { warned_expiry: now, expires_at: now }, end: 'expired' },
])('the warning about a key that $name ends as $end', ({ given, end }) => {
  expect(endOfWarning(key(given), now)).toBe(end)
})
