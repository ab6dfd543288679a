import { providerIds } from '@backstop/contracts/test'
import { systemClock } from '@backstop/kit/clock'
import { Secret } from '@backstop/kit/config'
import { createBiller, startBillerApi, type Trouble } from '@backstop/simulator'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { MINUTE, START, TEST_READ_KEY, useReaderHarness } from '../../test/read-back/reader-harness.ts'
import { createRecordingEgress } from '../../test/read-back/recording-egress.ts'
import { TEST_ACCOUNTS } from '../../test/read-back/test-accounts.ts'
import { biller } from './index.ts'

const harness = useReaderHarness(biller, TEST_ACCOUNTS.subscription)
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function openAccount() {
  const { now } = harness.clock
  const account = createBiller({ now })
  const api = await startBillerApi({ biller: account, readKeys: [TEST_READ_KEY], now })
  closers.push(api.stop)
  return { account, api, reader: harness.openReader(api.url) }
}

describe('an id that a merchant chose', () => {
  test.for(['Söhne & Co KG', 'a/b', 'a b?c#d', '.', '..', '%2F', 'a\u202eb'])('"%s" is read back', async id => {
    const { account, reader } = await openAccount()
    account.subscribe({ amount: 999, id })
    account.subscribe({ amount: 999 })
    account.cancel(id)
    expect(await harness.find(reader, [{ type: 'subscription', id }])).toMatchObject([
      { subject: id, cancellation: { phase: 'executed' } },
    ])
  })

  test('is swept like every other id', async () => {
    const { account, reader } = await openAccount()
    const ids = ['Söhne & Co KG', 'a/b', '..', 'plain']
    for (const id of ids) {
      account.subscribe({ amount: 999, id })
      account.scheduleCancel(id)
    }
    const page = await reader.schedules(null)
    if (page.kind === 'failed') throw new Error(page.text)
    expect(new Set(harness.meaningsOf(page.objects).map(({ subject }) => subject))).toEqual(new Set(ids))
  })

  test('is one segment of the path that decodes to exactly the id', async () => {
    const { egress, requests } = createRecordingEgress()
    await fc.assert(
      fc.asyncProperty(providerIds(), async id => {
        requests.length = 0
        const reader = harness.openReader('https://acme.example/api/v2', { egress })
        await reader.read([{ type: 'subscription', id }], 1_000)
        const { pathname, searchParams } = new URL(String(requests[0]?.url))
        const [, , , resource, segment, ...rest] = pathname.split('/')
        const said = segment === undefined ? searchParams.get('id[is]') : decodeURIComponent(segment)
        expect([resource, said, ...rest]).toEqual(['subscriptions', id])
      }),
    )
  })
})

describe('the targets of', () => {
  test.each([
    {
      name: 'a refund with an id',
      action: 'refund' as const,
      providerRef: 'txn_1',
      objectIds: ['sub-1'],
      targets: [{ type: 'transaction', id: 'txn_1' }],
    },
    {
      name: 'a refund with an id that may be of a credit note',
      action: 'refund' as const,
      providerRef: 'CN-204',
      objectIds: ['sub-1'],
      targets: [
        { type: 'transaction', id: 'CN-204' },
        { type: 'credit_note', id: 'CN-204' },
      ],
    },
    {
      name: 'a refund of a subscription or an invoice',
      action: 'refund' as const,
      providerRef: null,
      objectIds: ['sub-1', 'INV-1'],
      targets: [{ type: 'refunds_of_subscription', id: 'sub-1' }],
    },
    {
      name: 'a refund of a payment',
      action: 'refund' as const,
      providerRef: null,
      objectIds: ['txn_9'],
      targets: [{ type: 'transaction', id: 'txn_9' }],
    },
    {
      name: 'a cancellation',
      action: 'cancellation' as const,
      providerRef: null,
      objectIds: ['sub-1'],
      targets: [{ type: 'subscription', id: 'sub-1' }],
    },
  ])('$name', ({ targets, ...what }) => {
    expect(biller.readBack.targetsOf(what)).toEqual(targets)
  })
})

describe('a read of the subscription biller', () => {
  test('goes to the address of the site, with the key as user and no password', async () => {
    const { egress, requests } = createRecordingEgress()
    const { clock } = harness
    const options = {
      readKey: new Secret(TEST_READ_KEY),
      site: 'acme-test',
      apiBase: null,
      egress,
      clock,
      random: () => 0,
    }
    await biller.readBack.open(options).read([{ type: 'subscription', id: 'a/b c' }], 1_000)
    expect(requests).toMatchObject([
      {
        url: 'https://acme-test.chargebee.com/api/v2/subscriptions/a%2Fb%20c',
        headers: { authorization: `Basic ${Buffer.from(`${TEST_READ_KEY}:`).toString('base64')}` },
      },
    ])
  })

  test('finds a credit note with its refunds', async () => {
    const { account, reader } = await openAccount()
    const { invoice } = account.bill({ amount: 4_000 })
    const { creditNote, refund } = account.refundInvoice(invoice.id, { idAtGateway: 're_3Q' })
    const read = await harness.ask(reader, [{ type: 'credit_note', id: creditNote.id }])
    expect(read).toMatchObject({
      kind: 'read',
      objects: [
        { type: 'credit_note', body: { id: creditNote.id } },
        { type: 'transaction', body: { id: refund.id, id_at_gateway: 're_3Q' } },
      ],
    })
  })

  test('returns a refund once if two targets have it', async () => {
    const { account, reader } = await openAccount()
    const { creditNote, refund } = account.refundInvoice(account.bill({ amount: 4_000 }).invoice.id)
    const targets = [
      { type: 'transaction', id: refund.id },
      { type: 'credit_note', id: creditNote.id },
    ] as const
    const read = await harness.ask(reader, targets)
    expect(read.kind === 'read' && read.objects.map(({ type }) => type)).toEqual(['transaction', 'credit_note'])
  })

  test.each(['subscription', 'invoice'] as const)('finds the refunds of an %s', async named => {
    const { account, reader } = await openAccount()
    const { invoice, subscription } = account.subscribe({ amount: 4_000 })
    const { refund } = account.refundInvoice(invoice.id)
    const id = named === 'invoice' ? invoice.id : subscription.id
    const found = await harness.find(reader, [{ type: 'refunds_of_subscription', id }])
    expect(found).toContainEqual(expect.objectContaining({ kind: 'action', providerRef: refund.id }))
  })
})

describe('the event of a hint', () => {
  async function refundByKey() {
    const opened = await openAccount()
    const { invoice, customer } = opened.account.bill({ amount: 4_000 })
    const by = { source: 'api', user: 'Refund key' } as const
    const { refund } = opened.account.refundInvoice(invoice.id, { by })
    const event = opened.account.events().find(({ event_type }) => event_type === 'payment_refunded')
    const targets = [
      { type: 'transaction', id: refund.id },
      { type: 'event', id: String(event?.id) },
    ] as const
    return { ...opened, targets, refund, customer, invoice }
  }

  test('gives origin and customer of the refund', async () => {
    const { reader, targets, customer, invoice } = await refundByKey()
    expect(await harness.find(reader, targets)).toContainEqual(
      expect.objectContaining({
        details: {
          origin: { channel: 'api', key_name: 'Refund key', user: null, request_id: null, idempotency_key: null },
          customer: { id: customer.id, name: `${customer.first_name} ${customer.last_name}`, email: customer.email },
          payment: { number: invoice.id, plan: null, refund_reason: 'Other', destination: 'visa 4242' },
          mode: 'live',
          dashboardUrl: expect.stringContaining('https://acme.chargebee.com/d/transactions/'),
        },
      }),
    )
  })

  const always = { times: 100, path: /events/ }
  test.each<{ name: string; trouble: Trouble }>([
    { name: 'the key may not read it', trouble: { kind: 'error', status: 403, ...always } },
    { name: 'the provider refuses the question', trouble: { kind: 'error', status: 409, ...always } },
    { name: 'the provider limits the rate', trouble: { kind: 'error', status: 429, retryAfterS: 60, ...always } },
    { name: 'the provider is unavailable', trouble: { kind: 'error', status: 503, ...always } },
    { name: 'a gateway answers for the provider', trouble: { kind: 'html', status: 502, ...always } },
    { name: 'the provider does not show it yet', trouble: { kind: 'missing', ...always } },
    { name: 'the provider does not answer', trouble: { kind: 'silence', ...always } },
    { name: 'the provider closes the connection', trouble: { kind: 'cut', ...always } },
  ])('neither fails nor delays the read of the refund if $name', async ({ trouble }) => {
    const { api, targets, refund } = await refundByKey()
    const reader = harness.openReader(api.url, { clock: systemClock })
    for (let round = 0; round < 3; round++) {
      api.setTrouble(trouble)
      const from = performance.now()
      expect(await harness.find(reader, targets)).toMatchObject([{ kind: 'action', providerRef: refund.id }])
      expect(performance.now() - from).toBeLessThan(2_000)
      expect(reader.health).toBe('answering')
    }
  })

  test('is read again with the next hint after a failure', async () => {
    const { reader, api, targets } = await refundByKey()
    api.setTrouble({ kind: 'error', status: 503, times: 1, path: /events/ })
    expect(await harness.find(reader, targets)).toHaveLength(1)
    harness.clock.advance(MINUTE)
    expect(await harness.find(reader, targets)).toHaveLength(2)
  })

  test.each(['ev_unknown', '..'])('is not needed if its id is %s', async id => {
    const { reader, targets, refund } = await refundByKey()
    const found = await harness.find(reader, [targets[0], { type: 'event', id }])
    expect(found).toMatchObject([{ kind: 'action', providerRef: refund.id }])
  })
})

describe('a sweep of the subscription biller', () => {
  test('finds credit notes, refunds and changed subscriptions in their present state, and the events that say by whom', async () => {
    const { account, reader } = await openAccount()
    const { invoice } = account.subscribe({ amount: 4_000 })
    const { creditNote, refund } = account.refundInvoice(invoice.id)
    const types: string[] = []
    const ids: string[] = []
    let cursor = null
    for (;;) {
      const page = await reader.changes(cursor, START)
      if (page.kind === 'failed') throw new Error(page.text)
      types.push(...page.objects.map(({ type }) => type))
      ids.push(...page.objects.map(({ body }) => String(body.id)))
      cursor = page.cursor
      if (page.done) break
      expect(page.events).toEqual([])
    }
    expect(types).toEqual(['transaction', 'credit_note', 'subscription', 'event'])
    expect(ids).toEqual([refund.id, creditNote.id, invoice.subscription_id, expect.stringMatching(/^ev_/)])
  })

  test('finds the events of a recorded refund and of a cancellation that were dated back and not sent', async () => {
    const { account, reader } = await openAccount()
    const { invoice, subscription } = account.subscribe({ amount: 4_000 })
    const by = { source: 'api', user: 'Some key', suppressesWebhooks: true } as const
    account.refundInvoice(invoice.id, { by, offline: 'check', dateMs: START - 40 * 86_400_000 })
    account.cancel(subscription.id, { by, asOfMs: START - 20 * 86_400_000 })
    const shown = []
    let cursor = null
    for (;;) {
      const page = await reader.changes(cursor, START)
      if (page.kind === 'failed') throw new Error(page.text)
      shown.push(...harness.meaningsOf(page.objects.filter(({ type }) => type === 'event')))
      cursor = page.cursor
      if (page.done) break
    }
    const at = Math.floor(harness.clock.now() / 1000) * 1000
    expect(shown).toContainEqual(expect.objectContaining({ kind: 'action', made: { at, by: at, isDateChosen: true } }))
    expect(shown).toContainEqual(expect.objectContaining({ kind: 'subscription', requestReportedAt: at }))
  })
})
