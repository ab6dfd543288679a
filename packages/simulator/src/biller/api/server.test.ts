import Chargebee from 'chargebee'
import { afterEach, expect, test } from 'vitest'
import type { ProviderApi } from '../../api/provider-api.ts'
import { createChance } from '../../chance.ts'
import { createBiller } from '../account.ts'
import { type BillerApiOptions, startBillerApi } from './server.ts'

const KEY = 'test_reader'
const AUTHORIZATION = `Basic ${Buffer.from(`${KEY}:`).toString('base64')}`
const open: ProviderApi[] = []
afterEach(async () => {
  for (const api of open.splice(0)) await api.stop()
})

async function setUp(options: Partial<BillerApiOptions> = {}) {
  let clockMs = 1_764_000_000_000
  const now = () => clockMs
  const biller = createBiller({ now, chance: createChance(4) })
  const api = await startBillerApi({ biller, readKeys: [KEY], now, ...options })
  open.push(api)
  const at = { site: '127.0.0.1', hostSuffix: '', protocol: 'http', port: api.port } as const
  const client = new Chargebee({ apiKey: KEY, sdkTelemetryEnabled: false, ...at })
  const call = (path: string, headers: Record<string, string> = { authorization: AUTHORIZATION }) =>
    fetch(`${api.url}/api/v2${path}`, { headers })
  return { biller, api, client, call, pass: (ms: number) => (clockMs += ms) }
}

test('the official library reads transactions, credit notes, subscriptions and events back as they were sent', async () => {
  const { biller, client } = await setUp()
  const { subscription, invoice } = biller.subscribe({ amount: 4_999 })
  const { creditNote, refund } = biller.refundInvoice(invoice.id, { amount: 2_499, idAtGateway: 're_3Q' })
  biller.scheduleCancel(subscription.id)

  const { transaction } = await client.transaction.retrieve(refund.id)
  expect(transaction).toEqual(refund)
  expect(transaction).toMatchObject({
    type: 'refund',
    id_at_gateway: 're_3Q',
    linked_credit_notes: [{ cn_id: creditNote.id }],
  })
  expect((await client.creditNote.retrieve(creditNote.id)).credit_note).toEqual(creditNote)
  const read = await client.subscription.retrieve(subscription.id)
  expect(read.subscription).toMatchObject({ status: 'non_renewing', cancel_schedule_created_at: 1_764_000_000 })
  expect(read.customer.id).toBe(subscription.customer_id)
  const event = biller.events().at(-1)
  expect((await client.event.retrieve(event?.id ?? '')).event).toMatchObject({
    event_type: 'subscription_cancellation_scheduled',
    source: 'admin_console',
    user: 'ops@example.com',
    content: event?.content,
  })
})

test('the official library pages through all refunds, newest first', async () => {
  const { biller, client, pass } = await setUp()
  const made: string[] = []
  for (let count = 0; count < 25; count++) {
    pass(1_000)
    made.push(biller.refundInvoice(biller.bill({ amount: 1_000 }).invoice.id).refund.id)
  }
  const read: string[] = []
  let offset: string | undefined
  do {
    const cursor = offset === undefined ? {} : { offset }
    const page = await client.transaction.list({ limit: 10, type: { is: 'refund' }, ...cursor })
    read.push(...page.list.map(({ transaction }) => transaction.id))
    offset = page.next_offset
  } while (offset !== undefined)
  expect(read).toEqual(made.toReversed())
})

test('lists filter as the official library asks for it', async () => {
  const { biller, client, pass } = await setUp()
  const first = biller.subscribe({ amount: 1_000 })
  const firstRefund = biller.refundInvoice(first.invoice.id).refund
  pass(60_000)
  const second = biller.bill({ amount: 2_000 })
  const note = biller.issueCreditNote(second.invoice.id, { by: { source: 'api', user: 'support-tool' } })
  const ids = async (answer: Promise<{ list: { transaction: { id: string } }[] }>) =>
    (await answer).list.map(({ transaction }) => transaction.id)

  const refundsOf = { type: { is: 'refund' }, subscription_id: { is: first.subscription.id } }
  expect(await ids(client.transaction.list(refundsOf))).toEqual([firstRefund.id])
  const recent = { date: { after: firstRefund.date } }
  expect(await ids(client.transaction.list(recent))).toEqual([second.payment.id])
  const ascending = { 'sort_by[asc]': 'date', type: { in: ['payment', 'refund'] }, limit: 2 }
  expect(await ids(client.transaction.list(ascending))).toEqual([first.payment.id, firstRefund.id])
  const notes = await client.creditNote.list({ reference_invoice_id: { is: second.invoice.id } })
  expect(notes.list.map(({ credit_note }) => credit_note)).toEqual([note])
  const events = await client.event.list({ event_type: { in: ['credit_note_created'] }, source: { is: 'api' } })
  expect(events.list.map(({ event }) => event.user)).toEqual(['support-tool'])
  const active = await client.subscription.list({ status: { is: 'active' } })
  expect(active.list.map(({ subscription }) => subscription.id)).toEqual([first.subscription.id])
})

test.each([
  { name: 'no key', path: '/events', headers: {}, status: 401, code: 'api_authentication_failed' },
  {
    name: 'a wrong key',
    path: '/events',
    headers: { authorization: `Basic ${Buffer.from('wrong:').toString('base64')}` },
    status: 401,
    code: 'api_authentication_failed',
  },
  { name: 'an unknown transaction', path: '/transactions/txn_x', status: 404, code: 'resource_not_found' },
  { name: 'a limit over 100', path: '/transactions?limit=101', status: 400, code: 'param_wrong_value' },
  { name: 'an unknown filter', path: '/events?customer_id[is]=x', status: 400, code: 'param_wrong_value' },
  { name: 'an unknown offset', path: '/events?offset=x', status: 400, code: 'param_wrong_value' },
  { name: 'a list that is not a list', path: '/events?event_type[in]=x', status: 400, code: 'param_wrong_value' },
])('$name is answered with the error body of the API', async ({ path, headers, status, code }) => {
  const { call } = await setUp()
  const response = await call(path, headers)
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({
    message: expect.any(String),
    api_error_code: code,
    error_code: code,
    http_status_code: status,
  })
})

test('tells a call over the limit how long to wait', async () => {
  const { client, call, pass } = await setUp({ rateLimits: [{ calls: 1, perMs: 60_000, of: 'account' }] })
  await client.event.list()
  pass(15_000)
  await expect(client.event.list()).rejects.toMatchObject({
    http_status_code: 429,
    api_error_code: 'api_request_limit_exceeded',
  })
  expect((await call('/events')).headers.get('retry-after')).toBe('45')
})

test('returns 404 for the object of an event while reads lag', async () => {
  const { biller, api, call } = await setUp({ readLagMs: 500 })
  const { invoice } = biller.bill({ amount: 1_000 })
  const { refund } = biller.refundInvoice(invoice.id)
  expect((await call(`/transactions/${refund.id}`)).status).toBe(404)
  expect(await (await call('/events')).json()).toEqual({ list: [] })
  api.lagReads(0)
  expect((await call(`/transactions/${refund.id}`)).status).toBe(200)
})

test('refunds and cancels with a writable key, and events name the key', async () => {
  const { biller, api } = await setUp({ writeKeys: ['live_writer'], keyNames: { live_writer: 'Support tool' } })
  const at = { site: '127.0.0.1', hostSuffix: '', protocol: 'http', port: api.port } as const
  const writer = new Chargebee({ apiKey: 'live_writer', sdkTelemetryEnabled: false, ...at })
  const { subscription, invoice } = biller.subscribe({ amount: 4_999 })
  const headers = { 'chargebee-request-origin-user': 'agent-7' }
  const refunded = await writer.invoice.refund(
    invoice.id,
    { refund_amount: 2_499, credit_note: { reason_code: 'service_unsatisfactory' } },
    headers,
  )
  expect(refunded.transaction).toMatchObject({ type: 'refund', amount: 2_499 })
  expect(refunded.credit_note).toMatchObject({ reason_code: 'service_unsatisfactory' })
  expect(biller.events().at(-1)).toMatchObject({ source: 'api', user: 'Support tool', origin_user: 'agent-7' })

  const scheduled = await writer.subscription.cancelForItems(subscription.id, { end_of_term: true })
  expect(scheduled.subscription.status).toBe('non_renewing')
  const kept = await writer.subscription.removeScheduledCancellation(subscription.id)
  expect(kept.subscription.status).toBe('active')
  const posted: string[] = []
  biller.onEvent(event => posted.push(event.event_type))
  const silently = { 'chargebee-event-webhook': 'all-disabled' }
  const ended = await writer.subscription.cancelForItems(subscription.id, { cancel_option: 'immediately' }, silently)
  expect([ended.subscription.status, posted]).toEqual(['cancelled', []])
})
