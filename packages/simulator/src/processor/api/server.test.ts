import Stripe from 'stripe'
import { afterEach, expect, test } from 'vitest'
import type { ProviderApi } from '../../api/provider-api.ts'
import { createCardProcessor } from '../account.ts'
import { startProcessorApi } from './server.ts'

const open: ProviderApi[] = []
afterEach(async () => {
  for (const api of open.splice(0)) await api.stop()
})

let clockMs = 1_764_000_000_000
async function setUp() {
  const now = () => clockMs
  const processor = createCardProcessor({ now })
  const api = await startProcessorApi({ processor, readKeys: ['rk_test_reader'], writeKeys: ['sk_test_writer'], now })
  open.push(api)
  const client = (key: string) =>
    new Stripe(key, { host: '127.0.0.1', port: api.port, protocol: 'http', maxNetworkRetries: 0 })
  const call = (path: string, headers: Record<string, string> = { authorization: 'Bearer rk_test_reader' }) =>
    fetch(`${api.url}${path}`, { headers })
  return { processor, api, client, call }
}

test('the official library reads refunds, charges, payments and events back as they were sent', async () => {
  const { processor, client } = await setUp()
  const { charge, paymentIntent, customer } = processor.createPayment({ amount: 4_999, currency: 'eur' })
  const refund = processor.refund({ charge: charge.id, amount: 2_499 })
  const reader = client('rk_test_reader')
  expect(await reader.refunds.retrieve(refund.id)).toMatchObject(refund)
  expect(await reader.charges.retrieve(charge.id)).toMatchObject({ id: charge.id, amount_refunded: 2_499 })
  expect(await reader.paymentIntents.retrieve(paymentIntent.id)).toMatchObject({ latest_charge: charge.id })
  expect(await reader.customers.retrieve(customer.id)).toMatchObject({ email: customer.email })
  const event = processor.events().at(-1)
  expect(await reader.events.retrieve(event?.id ?? '')).toMatchObject({ type: 'charge.refunded' })
})

test('the official library pages through all refunds, newest first', async () => {
  const { processor, client } = await setUp()
  const made: string[] = []
  for (let count = 0; count < 25; count++) {
    clockMs += 1_000
    const { charge } = processor.createPayment({ amount: 1_000, currency: 'eur' })
    made.push(processor.refund({ charge: charge.id }).id)
  }
  const read = await client('rk_test_reader').refunds.list({ limit: 10 }).autoPagingToArray({ limit: 100 })
  expect(read.map(refund => refund.id)).toEqual(made.toReversed())
})

test('lists filter by payment, time and event type, and page backwards', async () => {
  const { processor, client } = await setUp()
  const first = processor.createPayment({ amount: 1_000, currency: 'eur' })
  const old = processor.refund({ charge: first.charge.id, amount: 1 })
  clockMs += 60_000
  const second = processor.createPayment({ amount: 1_000, currency: 'eur' })
  const recent = processor.refund({ charge: second.charge.id, amount: 2 })
  const reader = client('rk_test_reader')
  const ids = async (list: Promise<{ data: { id: string }[] }>) => (await list).data.map(item => item.id)
  expect(await ids(reader.refunds.list({ charge: first.charge.id }))).toEqual([old.id])
  expect(await ids(reader.refunds.list({ payment_intent: second.paymentIntent.id }))).toEqual([recent.id])
  expect(await ids(reader.refunds.list({ created: { gt: old.created } }))).toEqual([recent.id])
  expect(await ids(reader.refunds.list({ ending_before: old.id }))).toEqual([recent.id])
  const events = await reader.events.list({ types: ['refund.created'], created: { gte: recent.created } })
  expect(events.data.map(event => event.type)).toEqual(['refund.created'])
})

test('makes a refund by curl with a writable key, once for each idempotency key', async () => {
  const { processor, client } = await setUp()
  const { charge } = processor.createPayment({ amount: 1_000, currency: 'eur' })
  const writer = client('sk_test_writer')
  const options = { idempotencyKey: 'leaked-1' }
  const refund = await writer.refunds.create({ charge: charge.id, amount: 300, metadata: { by: 'x' } }, options)
  expect(await writer.refunds.create({ charge: charge.id, amount: 300, metadata: { by: 'x' } }, options)).toMatchObject(
    { id: refund.id },
  )
  expect(processor.refunds()).toHaveLength(1)
  expect(processor.events().at(-1)?.request).toMatchObject({ idempotency_key: 'leaked-1' })
  await expect(writer.refunds.create({ charge: charge.id, amount: 800 })).rejects.toMatchObject({
    statusCode: 400,
    param: 'amount',
  })
  await expect(client('rk_test_reader').refunds.create({ charge: charge.id })).rejects.toMatchObject({
    statusCode: 403,
  })
})

test.each([
  { name: 'no key', path: '/v1/refunds', headers: {}, status: 401, message: /did not provide an API key/ },
  {
    name: 'a wrong key',
    path: '/v1/refunds',
    headers: { authorization: 'Bearer rk_test_a_wrong_key' },
    status: 401,
    message: /^Invalid API Key provided: rk_test_\*+_key$/,
  },
  { name: 'an unknown refund', path: '/v1/refunds/re_x', status: 404, message: /^No such refund: 're_x'$/ },
  { name: 'an unknown path', path: '/v1/nothing', status: 404, message: /^Unrecognized request URL \(GET: / },
  { name: 'a limit over 100', path: '/v1/refunds?limit=101', status: 400, message: /less than or equal to 100/ },
  { name: 'a limit that is not a number', path: '/v1/refunds?limit=x', status: 400, message: /^Invalid integer: x$/ },
  { name: 'an unknown parameter', path: '/v1/refunds?foo=1', status: 400, message: /unknown parameter: foo/ },
  { name: 'an unknown cursor', path: '/v1/refunds?starting_after=re_x', status: 404, message: /^No such / },
])('$name is answered with the error body of the API', async ({ path, headers, status, message }) => {
  const { call } = await setUp()
  const response = await call(path, headers)
  expect(response.status).toBe(status)
  expect(await response.json()).toEqual({
    error: expect.objectContaining({
      type: 'invalid_request_error',
      message: expect.stringMatching(message),
      request_log_url: expect.stringMatching(/req_\w{14}$/),
    }),
  })
})

test('accepts basic authentication with the key as the user', async () => {
  const { call } = await setUp()
  const authorization = `Basic ${Buffer.from('rk_test_reader:').toString('base64')}`
  expect((await call('/v1/charges', { authorization })).status).toBe(200)
})

test('shows trouble for the requested number of calls', async () => {
  const { api, call } = await setUp()
  api.setTrouble({ kind: 'error', status: 429, times: 2 })
  const statuses = []
  for (let count = 0; count < 3; count++) statuses.push((await call('/v1/refunds')).status)
  expect(statuses).toEqual([429, 429, 200])
  expect(api.calls()).toEqual(['GET /v1/refunds', 'GET /v1/refunds', 'GET /v1/refunds'])
})

test('the official library reads subscriptions, their schedules and disputes', async () => {
  const { processor, client } = await setUp()
  const reader = client('rk_test_reader')
  const { subscription, payment } = processor.subscribe({ amount: 4_999, currency: 'eur', billingMode: 'flexible' })
  const schedule = processor.scheduleCancelByObject(subscription.id)
  const dispute = processor.dispute(payment.charge.id)
  const read = await reader.subscriptions.retrieve(subscription.id)
  expect(read).toMatchObject({ status: 'active', schedule: schedule.id, billing_mode: { type: 'flexible' } })
  expect(read.items.data[0]?.price.unit_amount_decimal?.toString()).toBe('4999')
  expect(await reader.subscriptionSchedules.retrieve(schedule.id)).toMatchObject({ end_behavior: 'cancel' })
  expect((await reader.disputes.list({ charge: payment.charge.id })).data.map(({ id }) => id)).toEqual([dispute.id])

  processor.endPeriod(subscription.id)
  expect((await reader.subscriptions.list({ customer: payment.customer.id })).data).toEqual([])
  const ended = await reader.subscriptions.list({ customer: payment.customer.id, status: 'canceled' })
  expect(ended.data.map(({ id }) => id)).toEqual([subscription.id])
})

test('emits a cancellation through the API with the request id that the caller got', async () => {
  const { processor, client } = await setUp()
  const writer = client('sk_test_writer')
  const { subscription } = processor.subscribe({ amount: 4_999, currency: 'eur' })
  const scheduled = await writer.subscriptions.update(
    subscription.id,
    { cancel_at_period_end: true, cancellation_details: { comment: 'op_7' } },
    { idempotencyKey: 'op-7' },
  )
  expect(scheduled).toMatchObject({ cancel_at_period_end: true, cancellation_details: { comment: 'op_7' } })
  expect(processor.events().at(-1)?.request).toEqual({ id: scheduled.lastResponse.requestId, idempotency_key: 'op-7' })
  await writer.subscriptions.update(subscription.id, { cancel_at_period_end: false })
  const canceled = await writer.subscriptions.cancel(subscription.id)
  expect(canceled.status).toBe('canceled')
  expect(processor.events().at(-1)?.request).toEqual({ id: canceled.lastResponse.requestId, idempotency_key: null })
})
