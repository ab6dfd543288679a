import { isDeepStrictEqual } from 'node:util'
import { Action, type ProviderKind } from '@backstop/contracts'
import type { SightingDetails } from '@backstop/providers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type KnownDetails, knownDetails, mergeDetails, showDetails, withoutPersonalData } from './details.ts'

const text = fc.constantFrom(null, 'a', 'b')
const sightings = fc.array(
  fc.record({
    version: fc.integer({ min: 0, max: 2 }),
    details: fc.record(
      {
        origin: fc.record({
          channel: fc.constantFrom(null, 'api', 'dashboard'),
          key_name: text,
          user: text,
          request_id: text,
          idempotency_key: text,
        }),
        actor: fc.constantFrom({ id: 'acr_1', kind: 'key_prefix' }, { id: 'acr_2', kind: 'key_prefix' }),
        customer: fc.record({ id: text, name: text, email: text }),
        payment: fc.record({ number: text, plan: text, refund_reason: text, destination: text }),
        mode: fc.constantFrom('live', 'test'),
        dashboardUrl: fc.constantFrom('https://dashboard.example/1', 'https://dashboard.example/2'),
      },
      { requiredKeys: [] },
    ),
  }),
  { minLength: 1, maxLength: 5 },
)

const mergeAll = (all: readonly (KnownDetails | undefined)[]) =>
  all.reduce((known, one) => mergeDetails(known, one), undefined)

test('merged details do not depend on the order, the number and the grouping of the sightings', () => {
  const orders = sightings.chain(shown =>
    fc.tuple(
      fc.constant(shown),
      fc.shuffledSubarray(shown, { minLength: shown.length, maxLength: shown.length }),
      fc.subarray(shown),
      fc.nat({ max: shown.length }),
    ),
  )
  fc.assert(
    fc.property(orders, ([shown, shuffled, repeated, at]) => {
      const read = (list: typeof shown) =>
        list.map(({ details, version }) => knownDetails(details as never, version, 'processor'))
      const expected = mergeAll(read(shown))
      expect(mergeAll(read([...shuffled, ...repeated]))).toEqual(expected)
      expect(mergeDetails(mergeAll(read(shuffled.slice(0, at))), mergeAll(read(shuffled.slice(at))))).toEqual(expected)
    }),
  )
})

describe('of two sightings, details keep', () => {
  const merged = (first: SightingDetails, second: SightingDetails) =>
    showDetails(mergeDetails(knownDetails(first, 1, 'processor'), knownDetails(second, 2, 'processor')))
  const customer = (email: string | null) => ({ customer: { id: null, name: null, email } })
  const origin = (user: string | null) => ({
    origin: { channel: 'dashboard', key_name: null, user, request_id: null, idempotency_key: null } as const,
  })

  test('the newer customer', () => {
    expect(merged(customer('old@example.com'), customer('new@example.com')).customer?.email).toBe('new@example.com')
  })

  test('a fact that the newer one does not state', () => {
    expect(merged(customer('ann@example.com'), customer(null)).customer?.email).toBe('ann@example.com')
    expect(merged(customer('ann@example.com'), {}).customer?.email).toBe('ann@example.com')
  })

  test('the earlier origin, because only the first state shows who made it', () => {
    expect(merged(origin('first@example.com'), origin('second@example.com')).origin?.user).toBe('first@example.com')
    expect(merged({}, origin('second@example.com')).origin?.user).toBe('second@example.com')
  })

  test('the earlier origin as a whole, without the facts that only the later one states', () => {
    const byKey = { origin: { ...origin(null).origin, channel: 'api', key_name: 'nightly-job' } } as const
    expect(merged(byKey, origin('second@example.com')).origin).toEqual(byKey.origin)
    expect(merged(origin(null), byKey).origin).toEqual(origin(null).origin)
  })
})

test('details are shown with null for each fact that the provider does not state', () => {
  const shown = showDetails(knownDetails({ mode: 'test' }, 1, 'processor'))
  expect(Action.partial().parse(shown)).toEqual(shown)
  expect(shown).toEqual({
    origin: { channel: null, key_name: null, user: null, request_id: null, idempotency_key: null },
    customer: null,
    payment: { number: null, plan: null, refund_reason: null, destination: null },
    mode: 'test',
    links: { provider: null, console: null },
  })
})

test('an action without details shows no detail', () => {
  expect(showDetails(undefined)).toEqual({})
})

test('details without personal data keep the ids and lose name, e-mail address and user', () => {
  const details = knownDetails(
    {
      origin: {
        channel: 'dashboard',
        key_name: null,
        user: 'bo@example.com',
        request_id: 'req_1',
        idempotency_key: null,
      },
      customer: { id: 'cus_1', name: 'Ann', email: 'ann@example.com' },
    },
    1,
    'processor',
  )
  expect(showDetails(withoutPersonalData(details))).toMatchObject({
    origin: { channel: 'dashboard', user: null, request_id: 'req_1' },
    customer: { id: 'cus_1', name: null, email: null },
  })
})

test('a merged origin is one of the origins that were stated', () => {
  fc.assert(
    fc.property(sightings, shown => {
      const merged = mergeAll(shown.map(({ details, version }) => knownDetails(details as never, version, 'processor')))
      const origin = showDetails(merged).origin
      const isUnknown = origin === undefined || Object.values(origin).every(value => value === null)
      expect(isUnknown || shown.some(({ details }) => isDeepStrictEqual({ ...details.origin }, origin))).toBe(true)
    }),
  )
})

test('personal data is the free text of a reason and every value that contains an e-mail address', () => {
  const stated = (address: string): SightingDetails => ({
    origin: {
      channel: 'api',
      key_name: `key of ${address}`,
      user: null,
      request_id: 'req_1',
      idempotency_key: `${address}/1`,
    },
    customer: { id: address, name: null, email: null },
    payment: { number: 'INV-1', plan: null, refund_reason: 'asked by Ann', destination: null },
    dashboardUrl: `https://acme.example/customers/${encodeURIComponent(address)}`,
  })
  const erased = (kind: ProviderKind) => withoutPersonalData(knownDetails(stated('ann@canary.example'), 1, kind))
  expect(showDetails(erased('reseller'))).toMatchObject({
    origin: { channel: 'api', key_name: null, request_id: 'req_1', idempotency_key: null },
    customer: null,
    payment: { number: 'INV-1', refund_reason: null },
    links: { provider: null },
  })
  expect(showDetails(erased('processor')).payment?.refund_reason).toBe('asked by Ann')
  const without = knownDetails({ ...stated('cus_1'), payment: undefined as never }, 1, 'reseller')
  expect(withoutPersonalData(without)).toBe(without)
})

test.each([
  { name: 'is erased with the user that it stands for', kind: 'dashboard_user', shown: undefined },
  { name: 'is kept if it stands for a key', kind: 'api_key', shown: 'acr_1' },
] as const)('the id of an actor $name', ({ kind, shown }) => {
  const origin = { channel: 'dashboard', key_name: 'k', user: 'bo@example.com', request_id: null } as const
  const details = { origin: { ...origin, idempotency_key: null }, actor: { id: 'acr_1', kind } }
  const known = knownDetails(details, 1, 'subscription')
  expect(showDetails(known).actor_id).toBe('acr_1')
  expect(showDetails(withoutPersonalData(known))).toMatchObject({ origin: { user: null, key_name: 'k' } })
  expect(showDetails(withoutPersonalData(known)).actor_id).toBe(shown)
})

test('an origin whose user was erased is not replaced by a later origin', () => {
  const by = (user: string, version: number) =>
    knownDetails(
      { origin: { channel: null, key_name: null, user, request_id: null, idempotency_key: null } },
      version,
      'processor',
    )
  expect(showDetails(mergeDetails(withoutPersonalData(by('bo', 1)), by('eve', 2))).origin?.user).toBeNull()
})
