import { expect, test } from 'vitest'
import { stripeSdk } from './stripe.ts'

/** The methods of Stripe that take a key, with arguments before their options. */
const CALLS = [
  { path: 'refunds.create', args: [{ payment_intent: 'pi_1' }] },
  { path: 'paymentIntents.cancel', args: ['pi_1', { cancellation_reason: 'duplicate' }] },
  { path: 'rawRequest', args: ['POST', '/v1/refunds', { payment_intent: 'pi_1' }] },
]

test.each(CALLS)('a callback stays the last argument of $path, after the options with the key', ({ path, args }) => {
  const callback = () => {}
  const method = stripeSdk.methods.find(known => known.path === path)
  const withKey = method?.idempotency?.withKey
  expect(withKey?.([...args, callback], 'key_1')).toEqual([...args, { idempotencyKey: 'key_1' }, callback])
  const options = { stripeAccount: 'acct_1' }
  expect(withKey?.([...args, options, callback], 'key_1')).toEqual([
    ...args,
    { stripeAccount: 'acct_1', idempotencyKey: 'key_1' },
    callback,
  ])
})

test('a callback in the place of the parameters stays the last argument', () => {
  const callback = () => {}
  const method = stripeSdk.methods.find(known => known.path === 'paymentIntents.cancel')
  expect(method?.idempotency?.withKey(['pi_1', callback], 'key_1')).toEqual([
    'pi_1',
    {},
    { idempotencyKey: 'key_1' },
    callback,
  ])
})
