import { describe, expect, test } from 'vitest'
import type { Origin } from './action-details.ts'
import { actorIdOf, actorOf } from './provider-actor.ts'

const UNKNOWN: Origin = { channel: null, key_name: null, user: null, request_id: null, idempotency_key: null }
const named = (origin: Partial<Origin>, prefixes?: readonly string[]) => actorOf({ ...UNKNOWN, ...origin }, prefixes)

describe('the actor of an origin', () => {
  test.each<[string, Partial<Origin>, ReturnType<typeof actorOf>]>([
    ['a named key', { channel: 'api', key_name: 'nightly-job' }, { kind: 'api_key', label: 'nightly-job' }],
    ['a user', { channel: 'dashboard', user: 'ana@example.com' }, { kind: 'dashboard_user', label: 'ana@example.com' }],
    ['the customer', { channel: 'hosted_page' }, { kind: 'hosted_page', label: null }],
    ['the provider itself', { channel: 'automatic' }, { kind: 'provider', label: null }],
    ['no actor, if the dashboard does not name its user', { channel: 'dashboard' }, undefined],
    ['nobody, if the API names no key', { channel: 'api', request_id: 'req_1' }, undefined],
    ['nobody, if only the caller states a user', { channel: 'api', user: 'ana@example.com' }, undefined],
    ['nobody, if nothing is known', {}, undefined],
  ])('is %s', (_name, origin, expected) => expect(named(origin)).toEqual(expected))

  test('is the longest declared prefix of its idempotency key', () => {
    const origin = { channel: 'api', idempotency_key: 'billing-eu-17' } as const
    expect(named(origin, ['bill', 'billing-eu-', 'billing-', 'other'])).toEqual({
      kind: 'key_prefix',
      label: 'billing-eu-',
    })
    expect(named(origin, ['eu-'])).toBeUndefined()
  })

  test('is what the provider states, also if the caller chose a key with a declared prefix', () => {
    const key = { idempotency_key: 'billing-17' }
    expect(named({ channel: 'api', key_name: 'mk_1', ...key }, ['billing-'])?.kind).toBe('api_key')
    expect(named({ channel: 'dashboard', ...key }, ['billing-'])).toBeUndefined()
  })
})

test('the id of an actor is the same for all its actions, and another in each project, account, provider and kind', () => {
  const place = { projectId: 'prj_1', provider: 'processor', account: undefined } as const
  const actor = { kind: 'dashboard_user', label: 'ana@example.com' } as const
  const idOf = (more: object = {}, who: Parameters<typeof actorIdOf>[2] = actor, secret = 's1') =>
    actorIdOf(secret, { ...place, ...more }, who)
  expect(idOf({}, { ...actor, label: 'Ana@Example.com' })).toBe(idOf())
  expect(idOf()).toMatch(/^acr_[0-9a-z]{26}$/)
  const others = [
    idOf({ projectId: 'prj_2' }),
    idOf({ account: 'acct_1' }),
    idOf({ provider: 'subscription' }),
    idOf({}, { ...actor, kind: 'api_key' }),
    // Without the secret of the project nobody can test a guess of the address.
    idOf({}, actor, 's2'),
  ]
  expect(new Set([idOf(), ...others]).size).toBe(6)
})
