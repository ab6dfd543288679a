import { systemClock } from '@backstop/kit/clock'
import { Secret } from '@backstop/kit/config'
import { createReseller, startResellerApi, type Trouble } from '@backstop/simulator'
import { afterEach, describe, expect, test } from 'vitest'
import { json } from '../../test/read-back/answers.ts'
import { MINUTE, START, TEST_READ_KEY, useReaderHarness } from '../../test/read-back/reader-harness.ts'
import { createRecordingEgress } from '../../test/read-back/recording-egress.ts'
import { TEST_ACCOUNTS } from '../../test/read-back/test-accounts.ts'
import { reseller } from './index.ts'

const harness = useReaderHarness(reseller, TEST_ACCOUNTS.reseller)
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function openAccount() {
  const { now } = harness.clock
  const account = createReseller({ now })
  const api = await startResellerApi({ reseller: account, readKeys: [TEST_READ_KEY], now })
  closers.push(api.stop)
  return { account, api, reader: harness.openReader(api.url) }
}

describe('the targets of', () => {
  test.each([
    {
      name: 'a refund with an id',
      action: 'refund' as const,
      providerRef: 'adj_1',
      objectIds: ['txn_1', 'sub_1'],
      targets: [{ type: 'adjustment', id: 'adj_1' }],
    },
    {
      name: 'a refund with its details',
      action: 'refund' as const,
      providerRef: 'adj_1',
      objectIds: ['txn_1', 'sub_1'],
      details: true as const,
      targets: [
        { type: 'adjustment', id: 'adj_1' },
        { type: 'transaction', id: 'txn_1' },
      ],
    },
    {
      name: 'a cancellation with its details',
      action: 'cancellation' as const,
      providerRef: 'sub_1',
      objectIds: ['sub_1'],
      details: true as const,
      targets: [
        { type: 'subscription', id: 'sub_1' },
        { type: 'transaction', id: 'sub_1' },
      ],
    },
    {
      name: 'a refund without an id',
      action: 'refund' as const,
      providerRef: null,
      objectIds: ['txn_1', 'sub_1'],
      targets: [{ type: 'adjustments_of_transaction', id: 'txn_1' }],
    },
    {
      name: 'a cancellation',
      action: 'cancellation' as const,
      providerRef: 'sub_1',
      objectIds: ['sub_1'],
      targets: [{ type: 'subscription', id: 'sub_1' }],
    },
  ])('$name', ({ targets, ...what }) => {
    expect(reseller.readBack.targetsOf(what)).toEqual(targets)
  })
})

describe('a read of the reseller', () => {
  test.each([
    { name: 'live', key: 'pdl_live_apikey_01', host: 'https://api.paddle.com' },
    { name: 'sandbox', key: 'pdl_sdbx_apikey_01', host: 'https://sandbox-api.paddle.com' },
  ])('with a $name key at the address of that account', async ({ key, host }) => {
    const { egress, requests } = createRecordingEgress()
    const { clock } = harness
    const options = { readKey: new Secret(key), site: null, apiBase: null, egress, clock, random: () => 0 }
    await reseller.readBack.open(options).read([{ type: 'adjustment', id: 'adj_1' }], 1_000)
    expect(requests).toMatchObject([
      { url: `${host}/adjustments?id=adj_1&per_page=50`, headers: { authorization: `Bearer ${key}` } },
    ])
  })

  test('finds the adjustments of a subscription that an operation names', async () => {
    const { account, reader } = await openAccount()
    const { subscription, transaction } = account.subscribe({ amount: 999 })
    const { id } = account.refund({ transactionId: transaction.id })
    expect(await harness.find(reader, [{ type: 'adjustments_of_transaction', id: subscription.id }])).toMatchObject([
      { kind: 'action', providerRef: id },
    ])
  })

  test('refuses an adjustment of another transaction as malformed', async () => {
    const adjustment = { id: 'adj_1', transaction_id: 'txn_other' }
    const body = { data: [adjustment], meta: { pagination: { has_more: false, next: 'https://api.example.com/' } } }
    const server = await harness.serve(json(200, body))
    const target = { type: 'adjustments_of_transaction', id: 'txn_1' } as const
    expect(await harness.ask(harness.openReader(server.url), [target])).toMatchObject({ failure: 'answer_malformed' })
  })

  test('follows no link to another host, which would get the key', async () => {
    const elsewhere = await harness.serve(json(200, {}))
    const next = `${elsewhere.url}/adjustments?after=adj_2`
    const item = { id: 'adj_2', created_at: new Date(START).toISOString() }
    const server = await harness.serve((request, response) => {
      const isFirst = !request.path.includes('after=')
      const pagination = { per_page: 50, next, has_more: isFirst, estimated_total: 2 }
      json(200, { data: isFirst ? [item] : [], meta: { pagination } })(request, response)
    })
    const reader = harness.openReader(server.url)
    const first = await reader.changes(null, START - MINUTE)
    expect(first).toMatchObject({ kind: 'page', done: false })
    await reader.changes(first.kind === 'page' ? first.cursor : null, START - MINUTE)
    expect(server.requests.map(({ path }) => path)).toMatchObject([
      expect.stringMatching(/^\/adjustments\?/),
      expect.stringMatching(/^\/adjustments\?.*after=adj_2/),
    ])
    expect(elsewhere.requests).toEqual([])
  })
})

describe('the details of a second look at the reseller', () => {
  async function refundedPayment() {
    const opened = await openAccount()
    const { subscription, transaction } = opened.account.subscribe({ amount: 999 })
    const customer = opened.account.customer(transaction.customer_id ?? '')
    const refund = opened.account.refund({ transactionId: transaction.id })
    const ask = (what: { action: 'refund' | 'cancellation'; providerRef: string; objectIds: string[] }) =>
      reseller.readBack.targetsOf({ ...what, details: true })
    const ofRefund = ask({ action: 'refund', providerRef: refund.id, objectIds: [transaction.id, subscription.id] })
    const ofEnd = ask({ action: 'cancellation', providerRef: subscription.id, objectIds: [subscription.id] })
    return { ...opened, subscription, transaction, customer, refund, ofRefund, ofEnd }
  }

  test('give the customer and the invoice number of a refund, with one more request', async () => {
    const { reader, ofRefund, refund, transaction, customer } = await refundedPayment()
    expect(await harness.find(reader, ofRefund)).toEqual([
      expect.objectContaining({
        providerRef: refund.id,
        details: {
          customer: { id: customer.id, name: customer.name, email: customer.email },
          payment: expect.objectContaining({ number: transaction.invoice_number }),
        },
      }),
    ])
    expect(harness.clock.statuses).toEqual([200, 200])
  })

  test('give the customer and the newest invoice number of a subscription, with one more request', async () => {
    const { account, reader, ofEnd, subscription, customer } = await refundedPayment()
    harness.clock.advance(MINUTE)
    account.endPeriod(subscription.id)
    const newest = account
      .asOf(harness.clock.now())
      .transactions.all()
      .findLast(({ subscription_id }) => subscription_id === subscription.id)
    expect(await harness.find(reader, ofEnd)).toEqual([
      expect.objectContaining({
        subject: subscription.id,
        details: {
          customer: { id: customer.id, name: customer.name, email: customer.email },
          payment: expect.objectContaining({ number: newest?.invoice_number }),
        },
      }),
    ])
    expect(harness.clock.statuses).toEqual([200, 200])
  })

  const always = { times: 100, path: /transactions/ }
  test.each<{ name: string; trouble: Trouble }>([
    { name: 'the key may not read transactions', trouble: { kind: 'error', status: 403, ...always } },
    { name: 'the provider limits the rate', trouble: { kind: 'error', status: 429, retryAfterS: 60, ...always } },
    { name: 'the provider is unavailable', trouble: { kind: 'error', status: 503, ...always } },
    { name: 'a gateway answers for the provider', trouble: { kind: 'html', status: 502, ...always } },
    { name: 'the transaction is not visible yet', trouble: { kind: 'missing', ...always } },
    { name: 'the provider does not answer', trouble: { kind: 'silence', ...always } },
    { name: 'the provider closes the connection', trouble: { kind: 'cut', ...always } },
  ])('neither fail nor delay the read if $name', async ({ trouble }) => {
    const { api, ofRefund, refund } = await refundedPayment()
    const reader = harness.openReader(api.url, { clock: systemClock })
    for (let round = 0; round < 3; round++) {
      api.setTrouble(trouble)
      const from = performance.now()
      expect(await harness.find(reader, ofRefund)).toMatchObject([{ kind: 'action', providerRef: refund.id }])
      expect(performance.now() - from).toBeLessThan(2_000)
      expect(reader.health).toBe('answering')
    }
  })

  test('do not show a refund that the provider does not know', async () => {
    const { reader, transaction } = await refundedPayment()
    const objectIds = [transaction.id]
    const targets = reseller.readBack.targetsOf({ action: 'refund', providerRef: 'adj_x', objectIds, details: true })
    expect(await harness.ask(reader, targets)).toEqual({ kind: 'not_found' })
  })

  test('take no request from the limit of other reads', async () => {
    const { api, reader, ofRefund, refund } = await refundedPayment()
    api.lagReads(0)
    const from = harness.clock.now()
    for (let read = 0; read < 300; read++) await harness.find(reader, ofRefund)
    const withDetailsMs = harness.clock.now() - from
    const other = harness.openReader(api.url)
    const again = harness.clock.now()
    for (let read = 0; read < 300; read++) await harness.find(other, [{ type: 'adjustment', id: refund.id }])
    expect(withDetailsMs).toBeLessThanOrEqual(harness.clock.now() - again)
    const { requestsPerMinute } = reseller.readBack.limits
    expect(harness.clock.statuses.length - 600).toBeLessThan(((200 - requestsPerMinute) * withDetailsMs) / MINUTE + 20)
  })
})

describe('a sweep of the reseller', () => {
  test('finds the later state of an old refund, with its version', async () => {
    const { account, reader } = await openAccount()
    const { id } = account.refund({ transactionId: account.sell({ amount: 4_000 }).id })
    harness.clock.advance(3 * 24 * 60 * MINUTE)
    account.review(id, 'rejected')
    const since = harness.clock.now() - MINUTE
    const first = await reader.changes(null, since)
    const second = await reader.changes(first.kind === 'page' ? first.cursor : null, since)
    expect(first).toMatchObject({ objects: [], done: false })
    expect(harness.meaningsOf(second.kind === 'page' ? second.objects : [])).toEqual([
      expect.objectContaining({ providerRef: id, state: 'rejected', stateVersion: harness.clock.now() }),
    ])
  })

  test('finds every state of a subscription in the order of the provider', async () => {
    const { account, reader } = await openAccount()
    const { subscription } = account.subscribe({ amount: 999 })
    for (const change of [account.scheduleCancel, account.unschedule, account.pause] as const) {
      harness.clock.advance(1_000)
      change(subscription.id)
    }
    const first = await reader.changes(null, START)
    const second = await reader.changes(first.kind === 'page' ? first.cursor : null, START)
    const states = harness
      .meaningsOf(second.kind === 'page' ? second.objects : [])
      .flatMap(one =>
        one.kind === 'subscription'
          ? [{ asOf: one.asOf - START, phases: [one.cancellation.phase, one.pause.phase] }]
          : [],
      )
    const distinct = [...new Map(states.map(state => [state.asOf, state])).values()]
    expect(distinct.sort((one, other) => one.asOf - other.asOf)).toEqual([
      { asOf: 1_000, phases: ['scheduled', 'none'] },
      { asOf: 2_000, phases: ['none', 'none'] },
      { asOf: 3_000, phases: ['none', 'paused'] },
    ])
  })
})

describe('the mode of the reseller', () => {
  test.each([
    { key: 'pdl_live_apikey_01k8', mode: 'live', host: 'https://vendors.paddle.com' },
    { key: 'pdl_sdbx_apikey_01k8', mode: 'test', host: 'https://sandbox-vendors.paddle.com' },
    { key: 'a1b2c3d4e5f6', mode: undefined, host: undefined },
  ])('with the key $key is $mode', async ({ key, mode, host }) => {
    const { now } = harness.clock
    const account = createReseller({ now })
    const api = await startResellerApi({ reseller: account, readKeys: [key], now })
    closers.push(api.stop)
    const { id } = account.sell({ amount: 4_999 })
    account.refund({ transactionId: id, amount: 100 })
    const reader = harness.openReader(api.url, { readKey: new Secret(key) })
    const read = await harness.ask(reader, [{ type: 'adjustments_of_transaction', id }])
    const [object] = read.kind === 'read' ? read.objects : []
    expect(object?.mode).toBe(mode)
    const origin = { projectId: 'prj_1', connectionId: 'con_1', site: null, readAt: now(), mode: object?.mode }
    const meaning = reseller.normaliseObject(origin, 'adjustment', object?.body ?? {})
    const details = meaning.kind === 'observed' ? meaning.sightings[0]?.details : undefined
    expect(details?.dashboardUrl).toBe(host && `${host}/transactions-v2/${id}`)
  })
})
