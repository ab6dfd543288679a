import { expect, test } from 'vitest'
import { searchKeysOfAction, searchKeysOfOperation, searchPrefixOf } from './search-keys.ts'
import { textOfKey } from './search-months.ts'

const SEEN = '2026-11-21T09:14:07.000Z'
const ACTION = { subject: 'pi_1Ab', provider_ref: 're_1', amount: 123_450, currency: 'eur', first_seen_at: SEEN }
const keysOf = (action: Parameters<typeof searchKeysOfAction>[0]) => searchKeysOfAction(action).map(textOfKey)

test('an action is found by its ids, amount, customer and idempotency key', () => {
  const customer = { id: 'cus_9', name: 'Zoë  Anna Müller', email: 'Zoe@Example.com' }
  const origin = { channel: null, key_name: null, user: null, request_id: null, idempotency_key: 'Order-7' }
  expect(keysOf({ ...ACTION, customer, origin })).toEqual([
    'pi_1ab',
    're_1',
    '1234.50 eur',
    'cus_9',
    'zoe@example.com',
    'zoe anna muller',
    'anna muller',
    'muller',
    'order-7',
  ])
})

test('a key begins with the month of its action', () => {
  const withTime = { ...ACTION, subject: 'pi_1', provider_ref: null, amount: null }
  expect(searchKeysOfAction(withTime)).toEqual([' 7388/pi_1'])
  expect(searchKeysOfAction({ ...withTime, first_seen_at: '2027-01-01T00:00:00.000Z' })).toEqual([' 7298/pi_1'])
})

test('what is erased from an action is erased from its keys', () => {
  const customer = { id: 'cus_9', name: null, email: null }
  expect(keysOf({ ...ACTION, customer })).toEqual(['pi_1ab', 're_1', '1234.50 eur', 'cus_9'])
  const account = 'acct_1Rf'
  expect(keysOf({ ...ACTION, account })).toEqual(['pi_1ab', 're_1', 'acct_1rf', '1234.50 eur'])
  expect(keysOf({ ...ACTION, amount: null, currency: null })).toEqual(['pi_1ab', 're_1'])
})

test('an operation is found by its ids, amount, idempotency key and run', () => {
  const operation = { ...ACTION, created_at: SEEN, provider_ref: null, idempotency_key: 'k-1', run_id: 'Nightly 7' }
  expect(searchKeysOfOperation(operation).map(textOfKey)).toEqual(['pi_1ab', '1234.50 eur', 'k-1', 'nightly 7'])
})

test.each([
  { query: ' PI_1AB ', prefix: 'pi_1ab' },
  { query: '1234.5', prefix: '1234.5' },
  { query: '1,234.50', prefix: '1234.50' },
  { query: '1.234,50 €', prefix: '1234.50' },
  { query: 'EUR 1 234,5', prefix: '1234.50 eur' },
  { query: '1234 eur', prefix: '1234.00 eur' },
  { query: '700 JPY', prefix: '700 jpy' },
  { query: 'MÜLLER', prefix: 'muller' },
  { query: '4711', prefix: '4711' },
])('the query $query asks for keys that begin with $prefix', ({ query, prefix }) => {
  expect(searchPrefixOf(query)).toBe(prefix)
})
