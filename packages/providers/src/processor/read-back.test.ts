import { Secret } from '@backstop/kit/config'
import { createCardProcessor, startProcessorApi, thinEventOf } from '@backstop/simulator'
import { afterEach, describe, expect, test } from 'vitest'
import { forwardTo, json, withOtherId } from '../../test/read-back/answers.ts'
import { MINUTE, START, TEST_READ_KEY, useReaderHarness } from '../../test/read-back/reader-harness.ts'
import { createRecordingEgress } from '../../test/read-back/recording-egress.ts'
import { TEST_ACCOUNTS } from '../../test/read-back/test-accounts.ts'
import type { SweepCursor } from '../read-back.ts'
import { processor } from './index.ts'

const harness = useReaderHarness(processor, TEST_ACCOUNTS.processor)
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function openAccount(options: { sendsRefundEvents?: boolean } = {}) {
  const { now } = harness.clock
  const account = createCardProcessor({ now, ...options })
  const api = await startProcessorApi({ processor: account, readKeys: [TEST_READ_KEY], now })
  closers.push(api.stop)
  const reader = harness.openReader(api.url)
  const sweep = async (since: number) => {
    const objects = []
    let cursor: SweepCursor | null = null
    for (;;) {
      const page = await reader.changes(cursor, since)
      if (page.kind === 'failed') throw new Error(page.text)
      objects.push(...page.objects)
      cursor = page.cursor
      if (page.done) return harness.meaningsOf(objects)
    }
  }
  return { account, api, reader, sweep }
}

describe('the targets of', () => {
  test.each([
    {
      name: 'a refund with an id',
      action: 'refund' as const,
      providerRef: 're_1',
      objectIds: ['pi_1', 'ch_1'],
      targets: [{ type: 'refund', id: 're_1' }],
    },
    {
      name: 'a refund without an id',
      action: 'refund' as const,
      providerRef: null,
      objectIds: ['pi_1', 'ch_1'],
      targets: [{ type: 'refunds_of_payment', id: 'pi_1' }],
    },
    {
      name: 'a cancellation',
      action: 'cancellation' as const,
      providerRef: null,
      objectIds: ['sub_1'],
      targets: [{ type: 'subscription', id: 'sub_1' }],
    },
    {
      name: 'a cancellation by an operation that names the subscription as its result',
      action: 'cancellation' as const,
      providerRef: 'sub_1',
      objectIds: [],
      targets: [{ type: 'subscription', id: 'sub_1' }],
    },
    {
      name: 'a cancellation by an operation that names the schedule',
      action: 'cancellation' as const,
      providerRef: null,
      objectIds: ['sub_sched_1'],
      targets: [{ type: 'subscription_schedule', id: 'sub_sched_1' }],
    },
  ])('$name', ({ targets, ...what }) => {
    expect(processor.readBack.targetsOf(what)).toEqual(targets)
  })
})

describe('a read of the card processor', () => {
  test('goes to the public address, with the key and the supported API version', async () => {
    const { egress, requests } = createRecordingEgress()
    const { clock } = harness
    const reader = processor.readBack.open({
      readKey: new Secret(TEST_READ_KEY),
      site: null,
      apiBase: null,
      egress,
      clock,
      random: () => 0,
    })
    await reader.read([{ type: 'refund', id: 're_1/..' }], 1_000)
    expect(requests).toMatchObject([
      {
        url: 'https://api.stripe.com/v1/refunds/re_1%2F..?expand%5B0%5D=charge.customer',
        method: 'GET',
        headers: { authorization: `Bearer ${TEST_READ_KEY}`, 'stripe-version': expect.stringMatching(/^\d{4}-/) },
      },
    ])
  })

  test('of a connected account names it, and its thin event is read at the second version of the API', async () => {
    const { egress, requests } = createRecordingEgress()
    const reader = harness.openReader('https://api.example.com/v1/', { egress })
    const account = 'acct_1'
    await reader.read(
      [
        { type: 'refund', id: 're_1', account },
        { type: 'event', id: 'evt_65', account },
      ],
      1_000,
    )
    expect(requests.map(({ url }) => url.split('?')[0]).sort()).toEqual([
      'https://api.example.com/v1/refunds/re_1',
      'https://api.example.com/v2/core/events/evt_65',
    ])
    for (const { headers } of requests) expect(headers).toMatchObject({ 'stripe-context': account })
  })

  test('of a connected account that the key may not read says nothing about the key', async () => {
    const egress = {
      request: async () => ({ status: 403, headers: {}, body: Buffer.from('{"error":{"code":"account_invalid"}}') }),
    }
    const reader = harness.openReader('https://api.example.com/v1/', { egress: egress as never })
    const read = (account?: string) => reader.read([{ type: 'refund', id: 're_1', ...(account && { account }) }], 1_000)
    expect(await read('acct_1')).toMatchObject({
      kind: 'failed',
      failure: 'question_refused',
      text: expect.stringContaining('acct_1'),
    })
    expect(await read()).toMatchObject({ kind: 'failed', failure: 'key_refused' })
  })

  test('adds the request of a thin event to its refund, and reads the refund also without it', async () => {
    const { account, reader } = await openAccount()
    const { charge } = account.createPayment({ amount: 4_000, currency: 'eur' })
    const refund = account.refund({ charge: charge.id, amount: 1_500, idempotencyKey: 'key-1' })
    const [made] = account.events().filter(({ type }) => type === 'refund.created')
    const read = (id: string) =>
      harness.find(reader, [
        { type: 'refund', id: refund.id },
        { type: 'event', id },
      ])
    expect(await read(thinEventOf(made!).id)).toMatchObject([{ providerRef: refund.id, idempotencyKey: 'key-1' }])
    expect(await read('evt_6_unknown')).toMatchObject([{ providerRef: refund.id, idempotencyKey: null }])
  })

  test('finds the refunds of a payment by the payment intent or the charge', async () => {
    const { account, reader } = await openAccount()
    const { charge, paymentIntent } = account.createPayment({ amount: 4_000, currency: 'eur' })
    const ids = [account.refund({ charge: charge.id, amount: 1 }).id, account.refund({ charge: charge.id }).id]
    for (const id of [charge.id, paymentIntent.id]) {
      const found = await harness.find(reader, [{ type: 'refunds_of_payment', id }])
      expect(found.map(one => one.kind === 'action' && one.providerRef).sort()).toEqual(ids.toSorted())
    }
  })

  test('finds a refund with its charge and customer', async () => {
    const { account, reader } = await openAccount()
    const { charge, customer } = account.createPayment({ amount: 4_000, currency: 'eur' })
    const { id } = account.refund({ charge: charge.id, amount: 100 })
    expect(await harness.find(reader, [{ type: 'refund', id }])).toMatchObject([
      {
        details: {
          customer: { id: customer.id, name: customer.name, email: customer.email },
          payment: { number: charge.receipt_number, destination: 'visa 4242' },
          mode: 'test',
        },
      },
    ])
  })

  test('finds a subscription with its customer and plan', async () => {
    const { account, reader } = await openAccount()
    const { subscription, payment } = account.subscribe({ amount: 999, currency: 'eur' })
    const { id, name, email } = payment.customer
    expect(await harness.find(reader, [{ type: 'subscription', id: subscription.id }])).toMatchObject([
      { details: { customer: { id, name, email }, payment: { plan: 'Team plan, monthly' } } },
    ])
  })

  test.each(['refund', 'subscription'] as const)(
    'finds a %s alone with a key that may not read customers',
    async type => {
      const { account, reader, api } = await openAccount()
      const { subscription, payment } = account.subscribe({ amount: 999, currency: 'eur' })
      const refund = account.refund({ charge: payment.charge.id, amount: 100 })
      const { id } = type === 'refund' ? refund : subscription
      api.setTrouble({ kind: 'error', status: 403, times: 1, path: /refunds|subscriptions/ })
      expect(await harness.find(reader, [{ type, id }])).toMatchObject([
        { details: { customer: { id: payment.customer.id, name: null, email: null } } },
      ])
    },
  )

  test('finds a subscription and its schedule by the id of either', async () => {
    const { account, reader } = await openAccount()
    const { subscription } = account.subscribe({ amount: 999, currency: 'eur' })
    const schedule = account.scheduleCancelByObject(subscription.id)
    for (const objectIds of [[subscription.id], [schedule.id]]) {
      const targets = processor.readBack.targetsOf({ action: 'cancellation', providerRef: null, objectIds })
      expect(await harness.find(reader, targets)).toMatchObject([
        { subject: subscription.id, cancellation: { phase: 'none' }, source: { kind: 'subscription' } },
        { subject: subscription.id, cancellation: { phase: 'scheduled' }, source: { kind: 'schedule' } },
      ])
    }
  })

  test('finds only the subscription with a key that may not read schedules', async () => {
    const { account, reader, api } = await openAccount()
    const { subscription } = account.subscribe({ amount: 999, currency: 'eur' })
    const schedule = account.scheduleCancelByObject(subscription.id)
    api.setTrouble({ kind: 'error', status: 403, times: 1, path: /subscription_schedules/ })
    expect(await harness.find(reader, [{ type: 'subscription', id: subscription.id }])).toMatchObject([
      { subject: subscription.id, source: { kind: 'subscription', scheduleId: schedule.id } },
    ])
  })

  test('repeats the read of a schedule after a temporary failure', async () => {
    const { account, reader, api } = await openAccount()
    const { subscription } = account.subscribe({ amount: 999, currency: 'eur' })
    account.scheduleCancelByObject(subscription.id)
    api.setTrouble({ kind: 'error', status: 503, times: 1_000, path: /subscription_schedules/ })
    const answer = await harness.ask(reader, [{ type: 'subscription', id: subscription.id }])
    expect(answer).toMatchObject({ kind: 'failed', failure: 'provider_unavailable' })
  })

  test('answers not_found for missing objects', async () => {
    const { reader, api } = await openAccount()
    expect(await harness.ask(reader, [{ type: 'adjustment', id: 'adj_1' }])).toMatchObject({
      failure: 'question_refused',
    })
    expect(api.calls()).toEqual([])
  })
})

describe('a sweep of the card processor', () => {
  test.for([
    { name: 'an id with a control character', bad: 're_\u0007' },
    { name: 'no id', bad: null },
  ])('goes on behind a page whose last item has $name', async ({ bad }) => {
    const { account, api } = await openAccount()
    const ids = Array.from({ length: 120 }, () => {
      harness.clock.advance(1_000)
      const { charge } = account.createPayment({ amount: 4_000, currency: 'eur' })
      return account.refund({ charge: charge.id, amount: 1 }).id
    })
    // Lists are newest first, so the hundredth-newest refund is the last item of the first page.
    const last = ids.at(-100) as string
    const server = await harness.serve((request, response) => {
      const path = request.path.replace(/starting_after=re_%07/, `starting_after=${last}`)
      forwardTo(
        api.url,
        () => path,
        body => withOtherId(body, last, bad),
      )(request, response)
    })
    const reader = harness.openReader(server.url)
    const found = new Set<unknown>()
    let cursor: SweepCursor | null = null
    for (let pages = 0; pages < 10; pages++) {
      const page = await reader.changes(cursor, START)
      if (page.kind === 'failed') throw new Error(page.text)
      for (const { type, body, fault } of page.objects) if (type === 'refund' && fault === undefined) found.add(body.id)
      cursor = page.cursor
      if (page.done) break
    }
    expect(found).toEqual(new Set(ids.filter(id => id !== last)))
  })

  test('finds the request that made a refund, also if no webhook reported it', async () => {
    const { account, sweep } = await openAccount()
    const { charge } = account.createPayment({ amount: 4_000, currency: 'eur' })
    account.refund({ charge: charge.id, requestId: 'req_1', idempotencyKey: 'key-1' })
    const origins = (await sweep(START)).flatMap(sighting => sighting.details?.origin ?? [])
    expect(origins).toMatchObject([{ channel: 'api', request_id: 'req_1', idempotency_key: 'key-1' }])
  })

  test('returns the rest of a page when the read of one subscription gives a malformed answer', async () => {
    const { account, api } = await openAccount()
    const [bad, good] = ['a', 'b'].map(() => account.subscribe({ amount: 999, currency: 'eur' }).subscription.id)
    account.cancel(String(bad))
    account.cancel(String(good))
    const server = await harness.serve((request, response) =>
      request.path.includes(`/subscriptions/${bad}`)
        ? json(200, { id: good })(request, response)
        : forwardTo(api.url)(request, response),
    )
    const reader = harness.openReader(server.url)
    const objects = []
    for (let cursor: SweepCursor | null = null, done = false; !done; ) {
      const page = await reader.changes(cursor, START)
      if (page.kind === 'failed') throw new Error(page.text)
      objects.push(...page.objects)
      ;({ cursor, done } = page)
    }
    expect(objects.filter(({ type }) => type === 'subscription')).toMatchObject([
      { body: { id: good } },
      { body: { id: bad }, fault: expect.stringContaining('not the subscription that was asked for') },
    ])
  })

  test('finds the refunds of an account that sends no refund events', async () => {
    const { account, sweep } = await openAccount({ sendsRefundEvents: false })
    const { charge } = account.createPayment({ amount: 4_000, currency: 'eur' })
    const { id } = account.refund({ charge: charge.id })
    expect(await sweep(START)).toContainEqual(expect.objectContaining({ kind: 'action', providerRef: id }))
  })

  test('finds the later state of an old refund', async () => {
    const { account, sweep } = await openAccount()
    const { charge } = account.createPayment({ amount: 4_000, currency: 'eur' })
    const { id } = account.refund({ charge: charge.id, status: 'pending' })
    harness.clock.advance(3 * 24 * 60 * MINUTE)
    const since = harness.clock.now() - MINUTE
    expect(await sweep(since)).toEqual([])
    account.settleRefund(id, { status: 'failed', failure_reason: 'declined' })
    expect(await sweep(since)).toContainEqual(expect.objectContaining({ providerRef: id, state: 'failed' }))
  })

  test('returns the present state of a subscription and not its state at the event', async () => {
    const { account, sweep } = await openAccount()
    const { subscription } = account.subscribe({ amount: 999, currency: 'eur' })
    account.scheduleCancel(subscription.id)
    account.unschedule(subscription.id)
    const found = (await sweep(START)).filter(one => one.kind === 'subscription')
    expect(found).toMatchObject([{ subject: subscription.id, cancellation: { phase: 'none' } }])
  })

  test('does not read subscriptions whose events change neither end nor pause', async () => {
    const { account, api, sweep } = await openAccount()
    const { subscription } = account.subscribe({ amount: 999, currency: 'eur' })
    account.change(subscription.id, { quantity: 2 })
    account.endPeriod(subscription.id)
    await sweep(START)
    expect(api.calls().filter(call => call.includes('/subscriptions/'))).toEqual([])
  })

  test('returns the events of schedules, which have the time and the request of a scheduled end', async () => {
    const { account, sweep } = await openAccount()
    const { subscription } = account.subscribe({ amount: 999, currency: 'eur' })
    const schedule = account.scheduleCancelByObject(subscription.id, { idempotencyKey: 'op-7' })
    harness.clock.advance(MINUTE)
    account.changeSchedule(schedule.id, { metadata: { ticket: '77' } })
    const found = (await sweep(START)).filter(one => one.kind === 'subscription')
    expect(found).toContainEqual(
      expect.objectContaining({
        subject: subscription.id,
        asOf: START,
        idempotencyKey: 'op-7',
        cancellation: expect.objectContaining({ phase: 'scheduled', requestedAt: START }),
      }),
    )
    expect(found.filter(one => one.idempotencyKey !== null)).toHaveLength(1)
  })

  test('has only schedules that end their subscription in its baseline', async () => {
    const { account, reader } = await openAccount()
    const [ending, going] = [1, 2].map(() => account.subscribe({ amount: 999, currency: 'eur' }).subscription.id)
    account.scheduleCancelByObject(ending ?? '')
    account.scheduleByObject(going ?? '')
    const page = await reader.schedules(null)
    const found = page.kind === 'page' ? harness.meaningsOf(page.objects) : []
    expect(found.map(one => one.subject)).toEqual([ending, ending])
    expect(found).toContainEqual(
      expect.objectContaining({ cancellation: expect.objectContaining({ phase: 'scheduled' }) }),
    )
  })

  test('finds disputes', async () => {
    const { account, sweep } = await openAccount()
    const { charge } = account.createPayment({ amount: 4_000, currency: 'eur' })
    const { id } = account.dispute(charge.id)
    expect(await sweep(START)).toContainEqual(expect.objectContaining({ record: 'dispute', providerRef: id }))
  })
})
