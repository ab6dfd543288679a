/** The reporter with the official libraries, against the simulated providers. */

import {
  createBiller,
  createCardProcessor,
  createReseller,
  startBillerApi,
  startProcessorApi,
  startResellerApi,
} from '@backstop/simulator'
import { type Environment, Paddle } from '@paddle/paddle-node-sdk'
import Chargebee from 'chargebee'
import Stripe from 'stripe'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Reporter, type ReporterOptions, watch } from '../src/reporter/watch.ts'
import { createRecordingBackstop } from './recording-backstop.ts'

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

function report(client: object, options: Partial<ReporterOptions> = {}) {
  const backstop = createRecordingBackstop()
  const reporter: Reporter = watch(client, {
    baseUrl: 'http://backstop.test',
    key: 'bsk_test',
    connectionId: 'con_1',
    fetch: backstop.fetch,
    ...options,
  })
  stops.push(() => reporter.close({ timeoutMs: 100 }))
  /** The reports of all finished calls, without their times. */
  const reported = async () => {
    await reporter.flush()
    return backstop.reports.map(({ executing_at, ended_at, connection_id, ...rest }) => {
      expect([connection_id, typeof executing_at]).toEqual(['con_1', 'string'])
      expect(typeof ended_at).toBe(/executing|review/.test(rest.state ?? '') ? 'undefined' : 'string')
      return rest
    })
  }
  return { backstop, reporter, reported }
}

const anyKey = expect.stringMatching(/^backstop-[0-9a-f]{32}$/)

describe('stripe', () => {
  async function setUp(options?: Partial<ReporterOptions>) {
    const processor = createCardProcessor({ now: Date.now })
    const api = await startProcessorApi({ processor, readKeys: [], writeKeys: ['sk'], now: Date.now, rateLimits: [] })
    stops.push(() => api.stop())
    const stripe = new Stripe('sk', { host: '127.0.0.1', port: api.port, protocol: 'http', maxNetworkRetries: 0 })
    const { paymentIntent, charge } = processor.createPayment({ amount: 4_999, currency: 'eur' })
    const lastKey = () => processor.events().at(-1)?.request?.idempotency_key
    /** The ids of the requests that the events name. */
    const requestIds = () => processor.events().flatMap(({ request }) => request?.id ?? [])
    return {
      processor,
      stripe,
      api,
      payment: paymentIntent.id,
      charge: charge.id,
      lastKey,
      requestIds,
      ...report(stripe, options),
    }
  }

  test('reports a refund before and after the call, with the key and the request of its event', async () => {
    const { stripe, payment, reported, lastKey, requestIds } = await setUp()
    const refund = await stripe.refunds.create({ payment_intent: payment, amount: 1_000 })
    const common = { kind: 'refund', subject: payment, amount: 1_000, idempotency_key: lastKey() }
    expect(lastKey()).toEqual(expect.any(String))
    expect(await reported()).toEqual([
      { ...common, state: 'executing' },
      { ...common, state: 'completed', provider_ref: refund.id, provider_request_id: requestIds().at(-1) },
    ])
  })

  test('makes the call although the spool fails, and says so', async () => {
    const onProblem = vi.fn()
    const spool = {
      load: async () => [],
      save: () => {
        throw new Error('The disk is full')
      },
      remove: () => {},
      close: async () => {},
    }
    const { stripe, payment } = await setUp({ spool, onProblem })
    expect((await stripe.refunds.create({ payment_intent: payment, amount: 1_000 })).status).toBe('succeeded')
    expect(onProblem).toHaveBeenCalledWith(expect.objectContaining({ kind: 'unreadable', method: 'refunds.create' }))
  })

  test('keeps the idempotency key of the caller, and reports no amount for a refund of all that is left', async () => {
    const { stripe, charge, reported, lastKey } = await setUp()
    const refund = await stripe.refunds.create({ charge }, { idempotencyKey: 'order-7' })
    expect(lastKey()).toBe('order-7')
    expect((await reported()).at(-1)).toEqual({
      kind: 'refund',
      subject: charge,
      idempotency_key: 'order-7',
      state: 'completed',
      provider_ref: refund.id,
      provider_request_id: expect.any(String),
    })
  })

  test('reports cancellations: at once, with the period, and by a raw request', async () => {
    const { stripe, processor, reported, lastKey, requestIds } = await setUp()
    const [a, b, c] = [1, 2, 3].map(() => processor.subscribe({ amount: 900, currency: 'eur' }).subscription.id)
    await stripe.subscriptions.cancel(String(a))
    await stripe.subscriptions.update(String(b), { cancel_at_period_end: true })
    const key = lastKey()
    await stripe.rawRequest('DELETE', `/v1/subscriptions/${c}`)
    const ended = (await reported()).filter(({ state }) => state === 'completed')
    const common = { kind: 'cancellation', state: 'completed', provider_request_id: expect.toBeOneOf(requestIds()) }
    expect(ended).toEqual([
      { ...common, subject: a, idempotency_key: anyKey },
      { ...common, subject: b, idempotency_key: key },
      { ...common, subject: c, idempotency_key: anyKey },
    ])
  })

  test('reports a refund by a raw request with its key', async () => {
    const { stripe, payment, reported, lastKey } = await setUp()
    const refund = await stripe.rawRequest('POST', '/v1/refunds', { payment_intent: payment, amount: 300 })
    expect((await reported()).at(-1)).toMatchObject({
      subject: payment,
      amount: 300,
      idempotency_key: lastKey(),
      provider_ref: Reflect.get(refund, 'id'),
    })
  })

  test('reports nothing for calls that neither refund nor cancel', async () => {
    const { stripe, processor, payment, reported } = await setUp()
    const { id } = processor.subscribe({ amount: 900, currency: 'eur' }).subscription
    await stripe.subscriptions.update(id, { cancel_at_period_end: false })
    await stripe.refunds.list()
    await stripe.paymentIntents.retrieve(payment)
    await stripe.rawRequest('GET', '/v1/refunds')
    expect(await reported()).toEqual([])
  })

  test('reports a refused call as failed, and throws the error of the library unchanged', async () => {
    const { stripe, payment, reported } = await setUp()
    const error = await stripe.refunds.create({ payment_intent: payment, amount: 99_999 }).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(Stripe.errors.StripeInvalidRequestError)
    expect(await reported()).toMatchObject([
      { state: 'executing' },
      { state: 'failed', reason: expect.stringContaining('greater than unrefunded amount') },
    ])
  })

  test('reports one operation if a call is repeated with its key after a temporary failure', async () => {
    const { stripe, payment, api, backstop, reported } = await setUp()
    api.setTrouble({ kind: 'error', status: 500, times: 1 })
    const refund = () => stripe.refunds.create({ payment_intent: payment }, { idempotencyKey: 'once' })
    await expect(refund()).rejects.toThrow()
    const { id } = await refund()
    expect(backstop.reports.filter(({ state }) => state === 'failed')).toEqual([])
    expect((await reported()).at(-1)).toMatchObject({ state: 'completed', provider_ref: id })
    expect(new Set((await reported()).map(({ idempotency_key: key }) => key))).toEqual(new Set(['once']))
  })

  test('reports to the connection that a function chooses, or not at all', async () => {
    const { stripe, payment, backstop, reporter } = await setUp({
      connectionId: ({ amount }) => (amount === 1 ? null : 'con_2'),
    })
    await stripe.refunds.create({ payment_intent: payment, amount: 1 })
    await stripe.refunds.create({ payment_intent: payment, amount: 2 })
    await reporter.flush()
    expect(backstop.reports).toMatchObject([
      { connection_id: 'con_2', amount: 2 },
      { connection_id: 'con_2', state: 'completed' },
    ])
  })

  test('shows the account of a call to the function that chooses the connection', async () => {
    const seen: unknown[] = []
    const { stripe } = await setUp({
      connectionId: call => {
        seen.push(call)
        return null
      },
    })
    const refund = (options: Stripe.RequestOptions) =>
      stripe.refunds.create({ charge: 'ch_1' }, options).catch(() => {})
    await refund({ stripeAccount: 'acct_1' })
    await refund({ stripeContext: 'ctx_1' })
    await refund({})
    const call = { kind: 'refund', subject: 'ch_1', method: 'refunds.create' }
    expect(seen).toEqual([{ ...call, account: 'acct_1' }, { ...call, account: 'ctx_1' }, call])
  })

  test('makes the call also if the reporter itself fails', async () => {
    const problems: string[] = []
    const { stripe, payment, backstop } = await setUp({
      connectionId: () => {
        throw new Error('no such tenant')
      },
      onProblem: ({ kind }) => {
        problems.push(kind)
        throw new Error('also this')
      },
    })
    expect((await stripe.refunds.create({ payment_intent: payment })).status).toBe('succeeded')
    expect(problems).toContain('unreadable')
    expect(backstop.reports).toEqual([])
  })

  test('reports nothing after close, and watches a client once', async () => {
    const { stripe, payment, reporter, backstop } = await setUp()
    expect(() => report(stripe)).toThrow('already watched')
    const ofContext = stripe.withStripeContext(Stripe.StripeContext.parse('ctx_1'))
    await reporter.close()
    await stripe.refunds.create({ payment_intent: payment, amount: 1 })
    await ofContext.refunds.create({ payment_intent: payment, amount: 1 })
    expect(backstop.reports).toEqual([])
    expect(reporter.status().queued).toBe(0)
  })
})

describe('stripe, for calls that the simulator does not have', () => {
  /** A client whose answers the test gives. */
  function setUp(answer: object) {
    const sent: { path: string; key: string | null }[] = []
    const httpClient = Stripe.createFetchHttpClient(async (url: string | URL | Request, init?: RequestInit) => {
      const request = new Request(url, init)
      sent.push({ path: new URL(request.url).pathname, key: request.headers.get('idempotency-key') })
      return new Response(JSON.stringify(answer), { headers: { 'content-type': 'application/json' } })
    })
    const stripe = new Stripe('sk', { httpClient })
    return { stripe, sent, ...report(stripe) }
  }

  test('reports the refund of a credit note under the id that only the answer shows', async () => {
    const { stripe, reported, sent } = setUp({ id: 'cn_1', currency: 'eur', refunds: [{ refund: 're_9' }] })
    await stripe.creditNotes.create({ invoice: 'in_1', refund_amount: 500 })
    expect(await reported()).toEqual([
      {
        kind: 'refund',
        subject: 're_9',
        amount: 500,
        currency: 'eur',
        idempotency_key: sent[0]?.key,
        state: 'completed',
        provider_ref: 're_9',
      },
    ])
  })

  test.each([
    { name: 'a payment with an authorization', latest_charge: 'ch_1', reports: 1 },
    { name: 'a payment that was never authorized', latest_charge: null, reports: 0 },
  ])('reports $reports released authorizations for $name', async ({ latest_charge, reports }) => {
    const { stripe, reported } = setUp({ id: 'pi_1', object: 'payment_intent', latest_charge })
    await stripe.paymentIntents.cancel('pi_1')
    expect(await reported()).toHaveLength(reports)
  })

  test('reports the refund of a card reader, and the end that a schedule sets', async () => {
    const { stripe, reported } = setUp({ id: 'sub_sched_1', subscription: 'sub_1', end_behavior: 'cancel' })
    await stripe.terminal.readers.refundPayment('tmr_1', { payment_intent: 'pi_1', amount: 5 })
    await stripe.subscriptionSchedules.cancel('sub_sched_1')
    await stripe.subscriptionSchedules.update('sub_sched_1', { end_behavior: 'cancel' })
    const ended = (await reported()).filter(({ state }) => state === 'completed')
    expect(ended).toMatchObject([
      { kind: 'refund', subject: 'pi_1', amount: 5 },
      { kind: 'cancellation', subject: 'sub_sched_1', provider_ref: 'sub_1' },
      { kind: 'cancellation', subject: 'sub_1' },
    ])
  })
})

describe('paddle', () => {
  async function setUp() {
    const reseller = createReseller({ now: Date.now })
    const api = await startResellerApi({ reseller, readKeys: [], writeKeys: ['pdl'], now: Date.now, rateLimits: [] })
    stops.push(() => api.stop())
    const paddle = new Paddle('pdl', { environment: api.url as Environment })
    return { reseller, paddle, ...report(paddle) }
  }

  test('reports a refund that waits for review, in full and in part', async () => {
    const { reseller, paddle, reported } = await setUp()
    const { id: transactionId, details } = reseller.sell({ amount: 4_999 })
    const itemId = details?.line_items?.[0]?.id ?? ''
    const items = [{ itemId, type: 'partial', amount: '1000' }] as const
    const part = await paddle.adjustments.create({ action: 'refund', reason: 'r', transactionId, items: [...items] })
    const other = reseller.sell({ amount: 4_999 }).id
    const all = await paddle.adjustments.create({ action: 'refund', reason: 'r', transactionId: other, type: 'full' })
    const common = { kind: 'refund', subject: transactionId, idempotency_key: anyKey }
    expect(await reported()).toEqual([
      { ...common, amount: 1_000, state: 'executing' },
      { ...common, amount: 1_000, state: 'awaiting_review', provider_ref: part.id },
      { ...common, subject: other, state: 'executing' },
      { ...common, subject: other, state: 'awaiting_review', provider_ref: all.id },
    ])
  })

  test('reports a cancellation, and no credit', async () => {
    const { reseller, paddle, reported } = await setUp()
    const { subscription, transaction } = reseller.subscribe({ amount: 4_999 })
    await paddle.subscriptions.cancel(subscription.id, { effectiveFrom: 'immediately' })
    await paddle.adjustments
      .create({ action: 'credit', reason: 'r', transactionId: transaction.id, type: 'full' })
      .catch(() => {})
    expect(await reported()).toMatchObject([
      { kind: 'cancellation', subject: subscription.id, state: 'executing' },
      { kind: 'cancellation', subject: subscription.id, state: 'completed' },
    ])
  })

  test('reports a refused refund as failed', async () => {
    const { paddle, reported } = await setUp()
    const refund = paddle.adjustments.create({ action: 'refund', reason: 'r', transactionId: 'txn_none', type: 'full' })
    await expect(refund).rejects.toThrow()
    expect((await reported()).at(-1)).toMatchObject({ state: 'failed' })
  })
})

describe('chargebee', () => {
  async function setUp() {
    const biller = createBiller({ now: Date.now })
    const api = await startBillerApi({ biller, readKeys: [], writeKeys: ['live'], now: Date.now, rateLimits: [] })
    stops.push(() => api.stop())
    const at = { site: '127.0.0.1', hostSuffix: '', protocol: 'http', port: api.port } as const
    const chargebee = new Chargebee({ apiKey: 'live', sdkTelemetryEnabled: false, ...at })
    return { biller, chargebee, ...report(chargebee) }
  }

  test('reports the refund of an invoice with its transaction', async () => {
    const { biller, chargebee, reported } = await setUp()
    const { invoice } = biller.subscribe({ amount: 4_999 })
    const { transaction } = await chargebee.invoice.refund(invoice.id, { refund_amount: 2_499 })
    const common = { kind: 'refund', subject: invoice.id, amount: 2_499, idempotency_key: anyKey }
    expect(await reported()).toEqual([
      { ...common, state: 'executing' },
      { ...common, state: 'completed', provider_ref: transaction.id },
    ])
  })

  test('reports cancellations, and keeps the headers of the caller', async () => {
    const { biller, chargebee, reported } = await setUp()
    const { subscription } = biller.subscribe({ amount: 4_999 })
    const headers = { 'chargebee-request-origin-user': 'agent-7', 'chargebee-idempotency-key': 'mine' }
    await chargebee.subscription.cancelForItems(subscription.id, { end_of_term: true }, headers)
    expect(biller.events().at(-1)).toMatchObject({ origin_user: 'agent-7' })
    expect(await reported()).toEqual([
      { kind: 'cancellation', subject: subscription.id, idempotency_key: 'mine', state: 'executing' },
      { kind: 'cancellation', subject: subscription.id, idempotency_key: 'mine', state: 'completed' },
    ])
  })
})

describe('the delay of a call', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  /** A client that is answered at once, with these statuses first. It repeats a call without a pause. */
  function openClient(statuses: number[] = []) {
    const sentAt: number[] = []
    const httpClient = {
      getClientName: () => 'test',
      async makeRequest() {
        sentAt.push(performance.now())
        const status = statuses.shift() ?? 200
        const answer = status === 200 ? { id: 're_1', status: 'succeeded' } : { error: { message: 'Later' } }
        return {
          getStatusCode: () => status,
          getHeaders: () => ({}),
          getRawResponse: () => ({}),
          toJSON: async () => answer,
        }
      },
    }
    const stripe = new Stripe('sk', { httpClient: httpClient as unknown as Stripe.HttpClient, maxNetworkRetries: 2 })
    return { stripe: Object.assign(stripe, { getInitialNetworkRetryDelay: () => 0 }), sentAt }
  }

  /** @returns the milliseconds of virtual time that the call took */
  async function delayOf({ stripe }: ReturnType<typeof openClient>): Promise<number> {
    const startedAt = performance.now()
    let endedAt: number | undefined
    const call = stripe.refunds.create({ charge: 'ch_1' }).then(() => {
      endedAt = performance.now()
    })
    while (endedAt === undefined) await vi.advanceTimersByTimeAsync(1)
    await call
    return Math.round(endedAt - startedAt)
  }

  test('is at most waitMs if Backstop does not answer, and then nothing until it answers again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
    const client = openClient()
    const { backstop } = report(client.stripe, { waitMs: 20, onProblem() {} })
    backstop.behave('silent')
    expect(await delayOf(client)).toBeLessThanOrEqual(21)
    for (let count = 0; count < 20; count++) expect(await delayOf(client)).toBeLessThanOrEqual(1)
    backstop.behave('down')
    for (let count = 0; count < 20; count++) expect(await delayOf(client)).toBeLessThanOrEqual(1)
    backstop.behave('up')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(new Set(backstop.reports.map(({ idempotency_key: key }) => key)).size).toBe(41)
    expect(await delayOf(client)).toBeLessThanOrEqual(1)
  })

  test('is at most waitMs also if the library repeats its request', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
    const client = openClient([500, 500])
    const { backstop } = report(client.stripe, { waitMs: 50 })
    // Every report takes 45 ms, so Backstop is in time, and each request could wait.
    backstop.behave({ answersAfterMs: 45 })
    expect(await delayOf(client)).toBeLessThanOrEqual(60)
    expect(client.sentAt).toHaveLength(3)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(backstop.reports.at(-1)).toMatchObject({ state: 'completed', provider_ref: 're_1' })
    expect(new Set(backstop.reports.map(({ idempotency_key: key }) => key)).size).toBe(1)
  })
})

test('refuses an object that is no client of a supported library', () => {
  expect(() => report({})).toThrow('Pass a client of stripe')
  expect(() => report({ refunds: { create() {} } })).toThrow('Pass a client of stripe')
  expect(() => report(new Stripe('sk'), { waitMs: 51 })).toThrow(RangeError)
})
