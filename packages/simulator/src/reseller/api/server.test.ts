import { type Environment, Paddle } from '@paddle/paddle-node-sdk'
import { afterEach, expect, test } from 'vitest'
import type { ProviderApi } from '../../api/provider-api.ts'
import { createChance } from '../../chance.ts'
import { createReseller } from '../account.ts'
import { type ResellerApiOptions, startResellerApi } from './server.ts'

const KEY = 'pdl_live_apikey_reader'
const open: ProviderApi[] = []
afterEach(async () => {
  for (const api of open.splice(0)) await api.stop()
})

async function setUp(options: Partial<ResellerApiOptions> = {}) {
  let clockMs = 1_764_000_000_000
  const now = () => clockMs
  const reseller = createReseller({ now, chance: createChance(4) })
  const api = await startResellerApi({ reseller, readKeys: [KEY], now, ...options })
  open.push(api)
  // The library accepts any base URL instead of the name of an environment.
  const client = new Paddle(KEY, { environment: api.url as Environment })
  const call = (path: string, headers: Record<string, string> = { authorization: `Bearer ${KEY}` }) =>
    fetch(`${api.url}${path}`, { headers })
  return { reseller, api, client, call, pass: (ms: number) => (clockMs += ms) }
}

const named = ({ id, name, email }: { id: string; name?: string | null; email: string }) => ({ id, name, email })

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = []
  for await (const item of items) read.push(item)
  return read
}

test('the official library reads adjustments, subscriptions, transactions and events back as they were sent', async () => {
  const { reseller, client } = await setUp()
  const { subscription, transaction } = reseller.subscribe({ amount: 4_999, customData: { tenant: 't1' } })
  const adjustment = reseller.refund({ transactionId: transaction.id, amount: 2_499, reason: 'op:7' })
  reseller.scheduleCancel(subscription.id)

  const [read] = await all(client.adjustments.list({ id: [adjustment.id] }))
  expect(read).toMatchObject({ id: adjustment.id, action: 'refund', status: 'pending_approval', reason: 'op:7' })
  expect(await client.subscriptions.get(subscription.id)).toMatchObject({
    id: subscription.id,
    status: 'active',
    customData: { tenant: 't1' },
    scheduledChange: { action: 'cancel', effectiveAt: subscription.current_billing_period?.ends_at },
  })
  const shown = await client.transactions.get(transaction.id, { include: ['adjustment', 'customer'] })
  expect(shown.adjustments).toMatchObject([{ id: adjustment.id, totals: { total: '2499' } }])
  const customer = reseller.customer(transaction.customer_id ?? '')
  expect(shown).toMatchObject({ invoiceNumber: transaction.invoice_number, customer: { ...named(customer) } })
  const [newest] = await client.transactions.list({ subscriptionId: [subscription.id], include: ['customer'] }).next()
  expect(newest).toMatchObject({ id: transaction.id, customer: named(customer) })
  expect(await client.transactions.get(transaction.id)).toMatchObject({ customer: null, adjustments: null })
  const events = await all(client.events.list())
  expect(events.map(event => event.eventType)).toEqual(reseller.events().map(event => event.event_type))
  expect(events.map(event => event.eventId)).toEqual(reseller.events().map(event => event.event_id))
})

test('the official library pages through all adjustments, newest first', async () => {
  const { reseller, client, api, pass } = await setUp()
  const made: string[] = []
  for (let count = 0; count < 25; count++) {
    pass(1_000)
    made.push(reseller.refund({ transactionId: reseller.sell({ amount: 1_000 }).id }).id)
  }
  const read = await all(client.adjustments.list({ perPage: 10 }))
  expect(read.map(adjustment => adjustment.id)).toEqual(made.toReversed())
  expect(api.calls()).toHaveLength(3)
  const ascending = await all(client.adjustments.list({ orderBy: 'id[ASC]', after: made[22] as string }))
  expect(ascending.map(adjustment => adjustment.id)).toEqual(made.slice(23))
})

test('links from the last page too, and reduces a page size that is too large', async () => {
  const { reseller, api, call } = await setUp()
  const { id } = reseller.sell({ amount: 1_000 })
  const answer = (await (await call('/transactions?per_page=500')).json()) as { meta: object }
  expect(answer.meta).toEqual({
    request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    pagination: {
      per_page: 30,
      next: `${api.url}/transactions?per_page=500&after=${id}`,
      has_more: false,
      estimated_total: 1,
    },
  })
})

test('lists filter by a comma-separated list', async () => {
  const { reseller, client } = await setUp()
  const { subscription, transaction } = reseller.subscribe({ amount: 1_000 })
  const other = reseller.sell({ amount: 2_000 })
  const refund = reseller.refund({ transactionId: transaction.id })
  const chargeback = reseller.chargeback({ transactionId: other.id })
  const ids = async (list: AsyncIterable<{ id: string }>) => (await all(list)).map(item => item.id)
  expect(await ids(client.adjustments.list({ action: 'chargeback' }))).toEqual([chargeback.id])
  expect(await ids(client.adjustments.list({ status: ['pending_approval'] }))).toEqual([refund.id])
  expect(await ids(client.adjustments.list({ subscriptionId: [subscription.id] }))).toEqual([refund.id])
  expect(await ids(client.adjustments.list({ transactionId: [transaction.id, other.id] }))).toHaveLength(2)
  expect(await ids(client.subscriptions.list({ scheduledChangeAction: ['cancel'] }))).toEqual([])
  reseller.scheduleCancel(subscription.id)
  expect(await ids(client.subscriptions.list({ scheduledChangeAction: ['cancel'] }))).toEqual([subscription.id])
  const events = await all(client.events.list({ eventType: ['adjustment.created'] }))
  expect(events.map(event => event.eventType)).toEqual(['adjustment.created', 'adjustment.created'])
})

test.each([
  { name: 'no key', path: '/subscriptions', headers: {}, status: 403, code: 'authentication_missing' },
  {
    name: 'a key without its scheme',
    path: '/subscriptions',
    headers: { authorization: KEY },
    status: 403,
    code: 'authentication_malformed',
  },
  {
    name: 'a wrong key',
    path: '/subscriptions',
    headers: { authorization: 'Bearer wrong' },
    status: 403,
    code: 'invalid_token',
  },
  { name: 'an unknown subscription', path: '/subscriptions/sub_x', status: 404, code: 'not_found' },
  { name: 'one adjustment by its id', path: '/adjustments/adj_x', status: 404, code: 'invalid_url' },
  { name: 'an unknown filter', path: '/adjustments?foo=1', status: 400, code: 'invalid_field' },
  { name: 'a page size that is not a number', path: '/events?per_page=x', status: 400, code: 'invalid_field' },
  { name: 'an unknown cursor', path: '/events?after=evt_x', status: 400, code: 'invalid_field' },
])('$name is answered with the error body of the API', async ({ path, headers, status, code }) => {
  const { call } = await setUp()
  const response = await call(path, headers)
  expect(response.status).toBe(status)
  expect(await response.json()).toEqual({
    error: expect.objectContaining({
      type: 'request_error',
      code,
      detail: expect.any(String),
      documentation_url: expect.stringMatching(`/${code}$`),
    }),
    meta: { request_id: expect.any(String) },
  })
})

test('tells a call over the limit how long to wait, in a form that the official library reads', async () => {
  const { client, pass } = await setUp({ rateLimits: [{ calls: 2, perMs: 60_000, of: 'account' }] })
  await client.events.list().next()
  pass(10_000)
  await client.events.list().next()
  await expect(client.subscriptions.get('sub_x')).rejects.toMatchObject({ code: 'too_many_requests', retryAfter: 50 })
  pass(50_000)
  await expect(client.subscriptions.get('sub_x')).rejects.toMatchObject({ code: 'not_found' })
})

test('returns 404 or old values for the object of an event while reads lag', async () => {
  const { reseller, api, client, pass } = await setUp({ readLagMs: 500 })
  const { subscription } = reseller.subscribe({ amount: 1_000 })
  await expect(client.subscriptions.get(subscription.id)).rejects.toMatchObject({ code: 'not_found' })
  pass(600)
  reseller.cancel(subscription.id)
  expect(await client.subscriptions.get(subscription.id)).toMatchObject({ status: 'active' })
  api.lagReads(0)
  expect(await client.subscriptions.get(subscription.id)).toMatchObject({ status: 'canceled' })
})

test('refunds, cancels and removes cancellations with a writable key', async () => {
  const writeKey = 'pdl_live_apikey_writer'
  const { reseller, api } = await setUp({ writeKeys: [writeKey] })
  const writer = new Paddle(writeKey, { environment: api.url as Environment })
  const { subscription, transaction } = reseller.subscribe({ amount: 4_999 })
  const itemId = transaction.details?.line_items[0]?.id ?? ''
  const adjustment = await writer.adjustments.create({
    action: 'refund',
    transactionId: transaction.id,
    reason: 'op:7',
    items: [{ itemId, type: 'partial', amount: '2499' }],
  })
  expect(adjustment).toMatchObject({ status: 'pending_approval', totals: { total: '2499' } })
  await expect(
    writer.adjustments.create({ action: 'refund', transactionId: transaction.id, reason: 'again', type: 'full' }),
  ).rejects.toMatchObject({ code: 'adjustment_pending_refund_request' })
  const scheduled = await writer.subscriptions.cancel(subscription.id, { effectiveFrom: 'next_billing_period' })
  expect(scheduled.scheduledChange?.action).toBe('cancel')
  expect((await writer.subscriptions.update(subscription.id, { scheduledChange: null })).scheduledChange).toBeNull()
  expect((await writer.subscriptions.pause(subscription.id, { effectiveFrom: 'immediately' })).status).toBe('paused')
  expect((await writer.subscriptions.cancel(subscription.id, { effectiveFrom: 'immediately' })).status).toBe('canceled')
})
