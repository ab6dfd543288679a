import { describe, expect, test } from 'vitest'
import { type CountedMember, StormCounter } from './storm-totals.ts'

const NO_FACTS = {
  channel: null,
  key_name: null,
  user_fingerprint: null,
  mode: null,
  customer_id: null,
  refund_reason: null,
}
let actions = 0
const member = (facts: Partial<CountedMember> = {}): CountedMember => ({
  action_id: `act_${++actions}`,
  kind: 'refund',
  opened_at: new Date('2026-11-21T10:00:00.000Z'),
  amount: 100,
  currency: 'eur',
  state: 'succeeded',
  subject: 'pi_1',
  facts: NO_FACTS,
  acknowledged_at: null,
  resolved_at: null,
  explained: false,
  ...facts,
})

function totalsOf(...members: CountedMember[]) {
  const counter = new StormCounter()
  for (const one of members) counter.add(one)
  return counter.totals()
}

test('money is added per currency, with the largest amount of each; an action without an amount only counts', () => {
  const totals = totalsOf(
    member({ amount: 250 }),
    member({ amount: 900 }),
    member({ amount: 5_000, currency: 'jpy' }),
    member({ kind: 'cancellation', amount: null, currency: null }),
  )
  expect(totals?.counted).toMatchObject({
    count: 4,
    kinds: [
      { kind: 'refund', count: 3 },
      { kind: 'cancellation', count: 1 },
    ],
    money: [
      { currency: 'eur', amount: 1_150, count: 2, largest: 900 },
      { currency: 'jpy', amount: 5_000, count: 1, largest: 5_000 },
    ],
  })
})

test('the rate is over the time between first and last, and over one minute at least', () => {
  const at = (seconds: number) => member({ opened_at: new Date(seconds * 1_000) })
  expect(totalsOf(at(4), at(0), at(2))?.counted).toMatchObject({
    first_at: '1970-01-01T00:00:00.000Z',
    last_at: '1970-01-01T00:00:04.000Z',
    per_minute: 3,
  })
  expect(totalsOf(at(0), at(600))?.counted.per_minute).toBe(0.2)
})

test('what at least half have in common is reported with its count, and nothing else', () => {
  const by = (key_name: string | null, index: number) =>
    member({ amount: index, subject: `pi_${index}`, facts: { ...NO_FACTS, key_name, channel: 'api' } })
  const totals = totalsOf(by('leaked', 1), by('leaked', 2), by('leaked', 3), by('other', 4))
  expect(totals?.common).toEqual({
    channel: { value: 'api', count: 4 },
    key_name: { value: 'leaked', count: 3 },
    subject: null,
    amount: null,
    refund_reason: null,
  })
  expect(totalsOf(by('a', 1), by('b', 2), by('c', 3))?.common.key_name).toBeNull()
})

test('the only action of a storm has its facts in common with itself', () => {
  const facts = { ...NO_FACTS, key_name: 'leaked', channel: 'api' as const }
  expect(totalsOf(member({ facts }))?.common).toMatchObject({ key_name: { value: 'leaked', count: 1 } })
})

test('the same customer, user, amount and reason are found, and an action of the customer and the user', () => {
  const facts = { ...NO_FACTS, customer_id: 'cus_1', refund_reason: 'fraudulent', user_fingerprint: 'f1' }
  expect(totalsOf(member({ action_id: 'act_7', facts }), member({ action_id: 'act_8', facts }))).toMatchObject({
    common: {
      amount: { value: 100, currency: 'eur', count: 2 },
      subject: { value: 'pi_1', count: 2 },
      refund_reason: { value: 'fraudulent', count: 2 },
    },
    customer: { value: 'cus_1', first: 'act_7', count: 2 },
    user: { value: 'f1', first: 'act_7', count: 2 },
  })
})

test('customers are counted, the mode is reported if all have it, and the largest action is of the first sum', () => {
  const facts = (customer_id: string, mode: 'live' | 'test') => ({ facts: { ...NO_FACTS, customer_id, mode } })
  const one = member({ action_id: 'act_1', ...facts('cus_1', 'live') })
  const largest = member({ action_id: 'act_2', amount: 200, ...facts('cus_2', 'live') })
  const yen = member({ action_id: 'act_3', amount: 9_000, currency: 'jpy', ...facts('cus_2', 'test') })
  expect(totalsOf(one, largest)).toMatchObject({ counted: { customers: 2, mode: 'live' }, largestActionId: 'act_2' })
  expect(totalsOf(one, largest, yen)).toMatchObject({ counted: { mode: null }, largestActionId: 'act_2' })
  expect(totalsOf(member({ action_id: 'act_4', amount: null }))?.largestActionId).toBe('act_4')
})

test('explained and otherwise resolved actions are counted', () => {
  const resolved_at = new Date(0)
  expect(totalsOf(member({ resolved_at, explained: true }), member({ resolved_at }), member())?.counted).toMatchObject({
    explained: 1,
    resolved: 2,
  })
})

test('money that did not move is in no sum, and the actions are counted', () => {
  const states = ['failed', 'canceled', 'rejected', 'reversed', 'pending', 'succeeded'] as const
  const totals = totalsOf(
    ...states.map((state, index) => member({ state, amount: 900 - index })),
    member({ amount: null }),
  )
  expect(totals?.counted).toMatchObject({
    count: 7,
    without_money: 4,
    money: [{ currency: 'eur', amount: 896 + 895, count: 2, largest: 896 }],
  })
  expect(totalsOf(member({ action_id: 'act_a', state: 'failed' }))).toMatchObject({
    counted: { without_money: 1, money: [] },
    largestActionId: 'act_a',
  })
})

test('test money is never added to live money, and comes last', () => {
  const inMode = (mode: 'live' | 'test', amount: number) => member({ amount, facts: { ...NO_FACTS, mode } })
  const totals = totalsOf(inMode('test', 5_000), inMode('live', 100), inMode('test', 7_000))
  expect(totals?.counted.money).toEqual([
    { currency: 'eur', mode: 'live', amount: 100, count: 1, largest: 100 },
    { currency: 'eur', mode: 'test', amount: 12_000, count: 2, largest: 7_000 },
  ])
})

describe('an action with several incidents', () => {
  const at = (second: number) => new Date(second * 1_000)
  const first = member({ action_id: 'act_a', opened_at: at(1), resolved_at: at(2), explained: true })

  test('counts once, with the facts of its newest incident', () => {
    const second = member({ action_id: 'act_a', opened_at: at(3), state: 'failed' })
    expect(totalsOf(first, second, member())).toMatchObject({
      incidents: 3,
      counted: {
        count: 2,
        kinds: [{ kind: 'refund', count: 2 }],
        money: [{ amount: 100, count: 1 }],
        without_money: 1,
        first_at: at(1).toISOString(),
      },
    })
  })

  test('is resolved when all its incidents are', () => {
    const open = member({ action_id: 'act_a', opened_at: at(3) })
    expect(totalsOf(first, open)?.counted).toMatchObject({ count: 1, resolved: 0, explained: 0 })
    const resolved = { ...open, resolved_at: at(4), explained: false }
    expect(totalsOf(first, resolved)?.counted).toMatchObject({ count: 1, resolved: 1, explained: 0 })
  })
})

test('a storm without members has no totals', () => {
  expect(totalsOf()).toBeUndefined()
})

test('an action is unacknowledged while one of its incidents is open and nobody acknowledged it', () => {
  const at = new Date(1_000)
  const totals = totalsOf(
    member(),
    member({ acknowledged_at: at }),
    member({ resolved_at: at }),
    member({ action_id: 'act_twice', acknowledged_at: at }),
    member({ action_id: 'act_twice' }),
  )
  expect(totals?.counted).toMatchObject({ count: 4, resolved: 1, unacknowledged: 2 })
})
