import { describe, expect, test } from 'vitest'
import { chooseCredentials, hasUnusableSecret } from './credentials.ts'

const connection = {
  provider: 'processor' as const,
  credentials: [
    { credential: 'current', expiresAtMs: null },
    { credential: 'previous', expiresAtMs: 1_000 },
  ],
  unusableUntilMs: [],
}

describe('the secrets that are valid for a notification', () => {
  test.each([
    { name: 'both during the overlap', nowMs: 999, credentials: ['current', 'previous'], isExpiring: [false, true] },
    {
      name: 'only the current one from the very end of the overlap',
      nowMs: 1_000,
      credentials: ['current'],
      isExpiring: [false],
    },
  ])('are $name', ({ nowMs, credentials, isExpiring }) => {
    expect(chooseCredentials(connection, 'processor', nowMs)).toEqual({ kind: 'usable', credentials, isExpiring })
  })

  test.each([
    { name: 'an unknown connection', held: undefined, provider: 'processor', reason: 'unknown_connection' },
    { name: "another provider's path", held: connection, provider: 'reseller', reason: 'wrong_provider' },
    {
      name: 'a connection whose secrets all ended',
      held: { ...connection, credentials: [{ credential: 'old', expiresAtMs: 5 }] },
      provider: 'processor',
      reason: 'no_usable_secret',
    },
    {
      name: 'a connection without a readable secret',
      held: { ...connection, credentials: [] },
      provider: 'processor',
      reason: 'no_usable_secret',
    },
  ] as const)('are none for $name', ({ held, provider, reason }) => {
    expect(chooseCredentials(held, provider, 5)).toEqual({ kind: 'none', reason })
  })
})

test.each([
  { untilMs: [], expected: false },
  { untilMs: [null], expected: true },
  { untilMs: [4, 6], expected: true },
  { untilMs: [5], expected: false },
])('secrets that cannot be used until $untilMs count at 5: $expected', ({ untilMs, expected }) => {
  expect(hasUnusableSecret({ unusableUntilMs: untilMs }, 5)).toBe(expected)
})
