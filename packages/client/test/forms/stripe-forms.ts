import { expect } from 'vitest'
import type { Answer, ArrivedRequest } from '../recording-provider.ts'
import type { AnyClient, Form } from './form.ts'

const refund = { kind: 'refund', subject: 'pi_1', amount: 500, state: 'completed', provider_ref: 're_1' } as const
const cancellation = { kind: 'cancellation', subject: 'sub_1', state: 'completed' } as const
/** Without a payment among the parameters, the answer shows it. */
const refundOfAnswer = { kind: 'refund', subject: 'pi_1', state: 'completed', provider_ref: 're_1' } as const
const refused = { kind: 'refund', subject: 'pi_1', amount: 666, state: 'failed', reason: 'Too much' } as const
const params = () => ({ payment_intent: 'pi_1', amount: 500 })

/** Calls that the library accepts or refuses in all majors or only in some: whatever it does, it does the same with a reporter. */
export const stripeForms: readonly Form[] = [
  // Parameters
  { name: 'parameters only', call: stripe => stripe.refunds.create(params()), reported: refund },
  {
    name: 'numbers as texts',
    call: stripe => stripe.refunds.create({ payment_intent: 'pi_1', amount: '500' }),
    reported: refund,
  },
  {
    name: 'nested parameters, lists, dates, and letters outside of ASCII',
    call: stripe =>
      stripe.refunds.create({
        ...params(),
        metadata: { 'a&b': 'ä=€ 1', at: new Date(0) },
        expand: ['charge', 'payment_intent'],
      }),
    reported: refund,
  },
  {
    name: 'a charge instead of a payment, and a parameter that is undefined or null',
    call: stripe => stripe.refunds.create({ charge: 'ch_1', amount: undefined, reason: null }),
    reported: { kind: 'refund', subject: 'ch_1', state: 'completed', provider_ref: 're_1' },
  },
  {
    name: 'a refund of a cash balance with its currency',
    call: stripe =>
      stripe.refunds.create({ customer: 'cus_1', amount: 500, currency: 'EUR', origin: 'customer_balance' }),
    reported: {
      kind: 'refund',
      subject: 'cus_1',
      amount: 500,
      currency: 'eur',
      state: 'completed',
      provider_ref: 're_1',
    },
  },
  { name: 'no arguments', call: stripe => stripe.refunds.create(), reported: refundOfAnswer },
  {
    name: 'undefined arguments',
    call: stripe => stripe.refunds.create(undefined, undefined),
    reported: refundOfAnswer,
  },
  {
    name: 'null arguments',
    call: stripe => stripe.refunds.create(null, null),
    reported: refundOfAnswer,
  },
  {
    name: 'a text instead of parameters',
    call: stripe => stripe.refunds.create('pi_1'),
    reported: refundOfAnswer,
  },
  {
    name: 'a list instead of parameters',
    call: stripe => stripe.refunds.create([params()]),
    reported: refundOfAnswer,
  },
  {
    name: 'frozen parameters',
    call: stripe => stripe.refunds.create(Object.freeze(params()), Object.freeze({ idempotencyKey: 'k-0' })),
    reported: refund,
  },
  // Options
  {
    name: 'a key, an account, a version, a timeout and retries',
    call: stripe =>
      stripe.refunds.create(params(), {
        idempotencyKey: 'k-1',
        stripeAccount: 'acct_1',
        apiVersion: '2023-08-16',
        timeout: 5_000,
        maxNetworkRetries: 2,
      }),
    reported: refund,
  },
  {
    name: 'another API key in the options',
    call: stripe => stripe.refunds.create(params(), { apiKey: 'sk_other' }),
    reported: refund,
  },
  { name: 'another API key as a text', call: stripe => stripe.refunds.create(params(), 'sk_other'), reported: refund },
  { name: 'empty options', call: stripe => stripe.refunds.create(params(), {}), reported: refund },
  { name: 'undefined options', call: stripe => stripe.refunds.create(params(), undefined), reported: refund },
  { name: 'null options', call: stripe => stripe.refunds.create(params(), null), reported: refund },
  {
    name: 'an undefined key',
    call: stripe => stripe.refunds.create(params(), { idempotencyKey: undefined }),
    reported: refund,
  },
  {
    name: 'the old spelling of the key',
    call: stripe => stripe.refunds.create(params(), { idempotency_key: 'k-2' }),
    reported: refund,
  },
  ...['api_key', 'stripe_account', 'stripe_version', 'stripeVersion', 'max_network_retries', 'unknown'].map(name => ({
    name: `the option ${name}`,
    call: (stripe: AnyClient) => stripe.refunds.create(params(), { [name]: 'acct_1' }),
    reported: refund,
  })),
  {
    name: 'an old and a new option together',
    call: stripe => stripe.refunds.create(params(), { idempotencyKey: 'k-3', stripe_account: 'acct_1' }),
    reported: refund,
  },
  {
    name: 'options among the parameters',
    call: stripe => stripe.refunds.create({ payment_intent: 'pi_1', idempotencyKey: 'k-4' }),
    reported: refundOfAnswer,
  },
  {
    name: 'options instead of parameters',
    call: stripe => stripe.refunds.create({ idempotencyKey: 'k-5' }),
    reported: refundOfAnswer,
  },
  {
    name: 'an argument too many',
    call: stripe => stripe.refunds.create(params(), { idempotencyKey: 'k-6' }, { amount: 1 }),
    reported: refund,
  },
  { name: 'a context', call: stripe => stripe.refunds.create(params(), { stripeContext: 'ctx_1' }), reported: refund },
  // Callbacks
  {
    name: 'a callback after the parameters',
    call: (stripe, callback) => stripe.refunds.create(params(), callback),
    reported: refund,
  },
  {
    name: 'a callback after the options',
    call: (stripe, callback) => stripe.refunds.create(params(), { idempotencyKey: 'k-7' }, callback),
    reported: refund,
  },
  {
    name: 'a callback and empty options',
    call: (stripe, callback) => stripe.refunds.create(params(), {}, callback),
    reported: refund,
  },
  {
    name: 'a callback in the place of the parameters',
    call: (stripe, callback) => stripe.subscriptions.cancel('sub_1', callback),
    reported: cancellation,
  },
  {
    name: 'a callback that gets a failure',
    call: (stripe, callback) => stripe.refunds.create({ ...params(), amount: 666 }, callback),
    reported: refused,
  },
  // Answers
  { name: 'a refusal', call: stripe => stripe.refunds.create({ ...params(), amount: 666 }), reported: refused },
  {
    name: 'a failed refund',
    call: stripe => stripe.refunds.create({ ...params(), amount: 777 }),
    reported: { ...refund, amount: 777, state: 'failed' },
  },
  {
    name: 'an answer that is no JSON',
    call: stripe => stripe.refunds.create({ ...params(), amount: 888 }),
    reported: { ...refused, amount: 888, reason: expect.stringContaining('JSON') },
  },
  {
    name: 'an answer that the library repeats the request after',
    call: stripe => stripe.refunds.create(params(), { maxNetworkRetries: 1 }),
    failing: [500],
    reported: refund,
  },
  {
    name: 'a cancellation that the library repeats',
    call: stripe => stripe.subscriptions.cancel('sub_1', {}, { maxNetworkRetries: 1 }),
    failing: [503],
    reported: cancellation,
  },
  // Subscriptions
  { name: 'a cancellation', call: stripe => stripe.subscriptions.cancel('sub_1'), reported: cancellation },
  {
    name: 'a cancellation with parameters',
    call: stripe => stripe.subscriptions.cancel('sub_1', { prorate: true, invoice_now: 'false' }),
    reported: cancellation,
  },
  {
    name: 'a cancellation with options',
    call: stripe => stripe.subscriptions.cancel('sub_1', { stripeAccount: 'acct_1', idempotencyKey: 'k-8' }),
    reported: cancellation,
  },
  {
    name: 'a cancellation with an API key as a text',
    call: stripe => stripe.subscriptions.cancel('sub_1', 'sk_other'),
    reported: cancellation,
  },
  {
    name: 'a cancellation without an id',
    call: stripe => stripe.subscriptions.cancel(),
    reported: { ...cancellation, subject: 'undefined' },
  },
  {
    name: 'a cancellation of a number',
    call: stripe => stripe.subscriptions.cancel(1),
    reported: { ...cancellation, subject: '1' },
  },
  { name: 'a cancellation of an empty id', call: stripe => stripe.subscriptions.cancel(''), reported: null },
  {
    name: 'an id with signs',
    call: stripe => stripe.subscriptions.cancel('sub 1/2'),
    reported: { ...cancellation, subject: 'sub 1/2' },
  },
  { name: 'the old name of a cancellation', call: stripe => stripe.subscriptions.del('sub_1'), reported: cancellation },
  ...[true, 'true'].map(value => ({
    name: `an end with the period as ${typeof value}`,
    call: (stripe: AnyClient) => stripe.subscriptions.update('sub_1', { cancel_at_period_end: value }),
    reported: cancellation,
  })),
  ...[1_900_000_000, '1900000000', new Date(1_900_000_000_000), 'max_period_end'].map(value => ({
    name: `an end at ${JSON.stringify(value)}`,
    call: (stripe: AnyClient) => stripe.subscriptions.update('sub_1', { cancel_at: value }),
    reported: cancellation,
  })),
  ...[
    { cancel_at_period_end: false },
    { cancel_at_period_end: 'false' },
    { cancel_at: '' },
    { cancel_at: undefined },
    {},
  ].map(value => ({
    name: `a change to ${JSON.stringify(value)}`,
    call: (stripe: AnyClient) => stripe.subscriptions.update('sub_1', value),
    reported: null,
  })),
  {
    name: 'an end with options',
    call: stripe => stripe.subscriptions.update('sub_1', { cancel_at_period_end: 'true' }, { idempotencyKey: 'k-9' }),
    reported: cancellation,
  },
  {
    name: 'options instead of a change',
    call: stripe => stripe.subscriptions.update('sub_1', { idempotencyKey: 'k-10' }),
    reported: null,
  },
  {
    name: 'a new subscription with an end',
    call: stripe => stripe.subscriptions.create({ customer: 'cus_1', cancel_at_period_end: 'true' }),
    reported: cancellation,
  },
  // Other resources
  {
    name: 'a credit note with a refund',
    call: stripe => stripe.creditNotes.create({ invoice: 'in_1', refund_amount: '500' }),
    reported: { ...refund, subject: 're_1', currency: 'eur' },
  },
  {
    name: 'a credit note without a refund',
    call: stripe => stripe.creditNotes.create({ invoice: 'in_1', refund_amount: 0 }),
    reported: null,
  },
  {
    name: 'a released authorization',
    call: stripe => stripe.paymentIntents.cancel('pi_1'),
    reported: { kind: 'refund', subject: 'pi_1', state: 'completed' },
  },
  {
    name: 'a refund at a card reader',
    call: stripe => stripe.terminal.readers.refundPayment('tmr_1', { payment_intent: 'pi_1', amount: '500' }),
    reported: refund,
  },
  {
    name: 'an end by a schedule',
    call: stripe => stripe.subscriptionSchedules.update('sub_sched_1', { end_behavior: 'cancel' }),
    reported: { ...cancellation, provider_ref: 'sub_1' },
  },
  {
    name: 'a cancelled schedule',
    call: stripe => stripe.subscriptionSchedules.cancel('sub_sched_1', { invoice_now: 'false' }),
    reported: { ...cancellation, subject: 'sub_sched_1', provider_ref: 'sub_1' },
  },
  // Requests by hand
  { name: 'a raw refund', call: stripe => stripe.rawRequest('POST', '/v1/refunds', params()), reported: refund },
  {
    name: 'a raw refund with options',
    call: stripe =>
      stripe.rawRequest('post', '/v1/refunds', params(), {
        idempotencyKey: 'k-11',
        additionalHeaders: { 'X-Trace': 't' },
      }),
    reported: refund,
  },
  {
    name: 'a raw refund with a query',
    call: stripe => stripe.rawRequest('POST', '/v1/refunds?payment_intent=pi_1&amount=500'),
    reported: refund,
  },
  {
    name: 'a raw cancellation',
    call: stripe => stripe.rawRequest('DELETE', '/v1/subscriptions/sub_1?prorate=true'),
    reported: cancellation,
  },
  {
    name: 'a raw cancellation with parameters',
    call: stripe => stripe.rawRequest('DELETE', '/v1/subscriptions/sub_1', { prorate: true }),
    reported: cancellation,
  },
  {
    name: 'the old path of a cancellation',
    call: stripe => stripe.rawRequest('DELETE', '/v1/customers/cus_1/subscriptions/sub_1'),
    reported: cancellation,
  },
  {
    name: 'the old path of a refund',
    call: stripe => stripe.rawRequest('POST', '/v1/charges/ch_1/refunds', { amount: 500 }),
    reported: { ...refund, subject: 'ch_1' },
  },
  {
    name: 'the oldest path of a refund',
    call: stripe => stripe.rawRequest('POST', '/v1/charges/ch_1/refund', { amount: 500 }),
    reported: { ...refund, subject: 'ch_1' },
  },
  {
    name: 'a resource of the caller',
    call(stripe) {
      const { StripeResource } = stripe.constructor
      const Own = StripeResource.extend({
        path: 'refunds',
        make: StripeResource.method({ method: 'POST' }),
      })
      return new Own(stripe).make(params(), { idempotencyKey: 'k-12' })
    },
    reported: refund,
  },
  {
    name: 'a method that was taken from its resource before',
    call(stripe) {
      const { create } = stripe.refunds
      return create.apply(stripe.refunds, [params(), { idempotencyKey: 'k-13' }])
    },
    reported: refund,
  },
  // Calls that neither refund nor cancel
  {
    name: 'a list of refunds',
    call: stripe => stripe.refunds.list({ limit: 3 }).autoPagingToArray({ limit: 3 }),
    reported: null,
  },
  { name: 'a refund that is read', call: stripe => stripe.refunds.retrieve('re_1'), reported: null },
  {
    name: 'a refund that is changed',
    call: stripe => stripe.refunds.update('re_1', { metadata: { a: 1 } }),
    reported: null,
  },
  { name: 'a refund that is cancelled', call: stripe => stripe.refunds.cancel('re_1'), reported: null },
  { name: 'a discount that is removed', call: stripe => stripe.subscriptions.deleteDiscount('sub_1'), reported: null },
  {
    name: 'a raw request of version 2',
    call: stripe => stripe.rawRequest('POST', '/v2/core/accounts', { amount: 1 }),
    reported: null,
  },
]

/** The API of Stripe, as far as the forms need it. */
export function answerAsStripe({ method, path, body }: ArrivedRequest): Answer {
  const [pathname = ''] = path.split('?')
  if (body.includes('amount=666'))
    return { status: 400, body: { error: { type: 'invalid_request_error', message: 'Too much' } } }
  if (body.includes('amount=888')) return { body: 'no JSON' }
  if (method === 'GET' && pathname === '/v1/refunds')
    return { body: { object: 'list', data: [{ id: 're_1' }], has_more: false, url: pathname } }
  const status = body.includes('amount=777') ? 'failed' : 'succeeded'
  const object = { id: 're_1', object: 'refund', status, payment_intent: 'pi_1', charge: 'ch_1' }
  if (/\/refunds/.test(pathname)) return { body: object }
  if (/\/refund$/.test(pathname)) return { body: { id: 'ch_1', object: 'charge', refunds: { data: [object] } } }
  if (pathname.includes('/credit_notes'))
    return { body: { id: 'cn_1', currency: 'eur', refunds: [{ refund: 're_1' }] } }
  if (pathname.includes('/payment_intents'))
    return { body: { id: 'pi_1', object: 'payment_intent', latest_charge: 'ch_1' } }
  if (pathname.includes('/readers')) return { body: { id: 'tmr_1', action: { refund_payment: { refund: 're_1' } } } }
  if (pathname.includes('/subscription_schedules')) {
    return { body: { id: 'sub_sched_1', subscription: 'sub_1', end_behavior: 'cancel' } }
  }
  return { body: { id: 'sub_1', object: 'subscription', status: 'active' } }
}
