/**
 * The details that each provider gives: origin, customer, payment, mode and link, from samples in the official form. Missing and hostile
 * values are absent facts, and never make an object malformed.
 */
import type { ProviderKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { PROCESSOR_EVENTS, PROCESSOR_OBJECTS } from '../src/processor/samples/index.ts'
import { PROVIDERS } from '../src/registry.ts'
import { RESELLER_EVENTS, RESELLER_OBJECTS } from '../src/reseller/samples/index.ts'
import type { Normalised, ObjectOrigin, Sighting, SightingDetails } from '../src/sighting.ts'
import { SUBSCRIPTION_EVENTS, SUBSCRIPTION_OBJECTS } from '../src/subscription/samples/index.ts'

type Json = Readonly<Record<string, unknown>>

const READ = { projectId: 'prj_1', connectionId: 'con_1', readAt: Date.parse('2025-12-31T00:00:00Z') }
const SITES: Readonly<Record<ProviderKind, string | null>> = { processor: null, reseller: null, subscription: 'acme' }

function sightingIn(meaning: Normalised): Sighting {
  const [first] = meaning.kind === 'observed' ? meaning.sightings : []
  if (first === undefined) throw new Error(`There is no sighting: ${JSON.stringify(meaning)}`)
  return first
}

/** The details of the first sighting of an event that is pushed. */
function pushed(kind: ProviderKind, eventType: string, event: object): SightingDetails | undefined {
  const origin = { projectId: 'prj_1', connectionId: 'con_1', eventId: 'evt_1', eventType }
  return sightingIn(PROVIDERS[kind].normaliseEvent(origin, { ...event })).details
}

/** The details of the first sighting of an object that is read. */
function read(kind: ProviderKind, type: string, object: object, more: Partial<ObjectOrigin> = {}) {
  return sightingIn(PROVIDERS[kind].normaliseObject({ ...READ, site: SITES[kind], ...more }, type, { ...object }))
    .details
}

const origin = (known: Partial<SightingDetails['origin']>) => ({
  channel: null,
  key_name: null,
  user: null,
  request_id: null,
  idempotency_key: null,
  ...known,
})
const payment = (known: Partial<SightingDetails['payment']>) => ({
  number: null,
  plan: null,
  refund_reason: null,
  destination: null,
  ...known,
})

interface Row {
  readonly name: string
  readonly given: () => SightingDetails | undefined
  readonly details: SightingDetails
}

describe('the details of the card processor', () => {
  const { refund, charge, subscription } = PROCESSOR_OBJECTS
  const request = origin({ channel: 'api', request_id: 'req_k3', idempotency_key: 'cxl-op-7f2' })
  const page = 'https://dashboard.stripe.com/payments/pi_3P'
  const subscriptionPage = 'https://dashboard.stripe.com/subscriptions/sub_1N'
  const customer = { id: 'cus_9', name: null, email: null }
  const payer = { id: 'cus_9', name: 'Sam Buyer', email: 'buyer@shop.example' }
  const plan = 'Team plan, monthly'
  const bySomebody = { id: 'req_other', idempotency_key: 'another' }
  const made = PROCESSOR_EVENTS['refund.created']
  const set = PROCESSOR_EVENTS['customer.subscription.updated']
  const ended = PROCESSOR_EVENTS['customer.subscription.deleted']
  const rows: Row[] = [
    {
      name: 'a refund: the request that made it',
      given: () => pushed('processor', 'refund.created', made),
      details: {
        origin: request,
        customer,
        payment: payment({ refund_reason: 'requested_by_customer', destination: 'card' }),
        mode: 'live',
        dashboardUrl: page,
      },
    },
    {
      name: 'an update of the refund by another request: no origin',
      given: () =>
        pushed('processor', 'refund.updated', { ...PROCESSOR_EVENTS['refund.updated'], request: bySomebody }),
      details: {
        customer,
        payment: payment({ refund_reason: 'requested_by_customer', destination: 'card' }),
        mode: 'live',
        dashboardUrl: page,
      },
    },
    {
      name: 'a charge: who paid, the receipt number and the card',
      given: () => pushed('processor', 'charge.refunded', PROCESSOR_EVENTS['charge.refunded']),
      details: {
        origin: request,
        customer: payer,
        payment: payment({ number: '1043-2207', destination: 'visa 4242' }),
        mode: 'live',
        dashboardUrl: page,
      },
    },
    {
      name: 'a refund that is read with its charge',
      given: () => read('processor', 'refund', { ...refund, charge }),
      details: {
        customer: payer,
        payment: payment({ number: '1043-2207', refund_reason: 'requested_by_customer', destination: 'visa 4242' }),
        mode: 'live',
        dashboardUrl: page,
      },
    },
    {
      name: 'a charge without billing details: the address for receipts, then the customer',
      given: () =>
        read('processor', 'charge', {
          ...charge,
          billing_details: null,
          customer: { id: 'cus_9', name: 'Ada Okafor', email: 'ada@shop.example' },
        }),
      details: {
        customer: { id: 'cus_9', name: 'Ada Okafor', email: 'receipts@shop.example' },
        payment: payment({ number: '1043-2207', destination: 'visa 4242' }),
        mode: 'live',
        dashboardUrl: page,
      },
    },
    {
      name: "a refund to the customer's cash balance",
      given: () =>
        read('processor', 'refund', {
          ...refund,
          charge,
          reason: null,
          destination_details: { type: 'customer_cash_balance', customer_cash_balance: {} },
        }),
      details: {
        customer: payer,
        payment: payment({ number: '1043-2207', destination: 'customer cash balance' }),
        mode: 'live',
        dashboardUrl: page,
      },
    },
    {
      name: 'a refund in test mode: another page',
      given: () => pushed('processor', 'refund.created', { ...made, livemode: false, request: null }),
      details: {
        customer,
        payment: payment({ refund_reason: 'requested_by_customer', destination: 'card' }),
        mode: 'test',
        dashboardUrl: 'https://dashboard.stripe.com/test/payments/pi_3P',
      },
    },
    {
      name: 'a refund without a request: not automatic, because a request can set its reason',
      given: () => pushed('processor', 'refund.created', { ...made, request: { id: null, idempotency_key: null } }),
      details: {
        customer,
        payment: payment({ refund_reason: 'requested_by_customer', destination: 'card' }),
        mode: 'live',
        dashboardUrl: page,
      },
    },
    {
      name: 'the expiry of an authorization: automatic',
      given: () =>
        pushed('processor', 'refund.created', {
          ...made,
          request: { id: null, idempotency_key: null },
          data: { object: { ...refund, reason: 'expired_uncaptured_charge' } },
        }),
      details: {
        origin: origin({ channel: 'automatic' }),
        customer,
        payment: payment({ refund_reason: 'expired_uncaptured_charge', destination: 'card' }),
        mode: 'live',
        dashboardUrl: page,
      },
    },
    {
      name: 'an event of a connected account: no page',
      given: () => pushed('processor', 'refund.created', { ...made, account: 'acct_1' }),
      details: {
        origin: request,
        customer,
        payment: payment({ refund_reason: 'requested_by_customer', destination: 'card' }),
        mode: 'live',
      },
    },
    {
      name: 'a scheduled end: the request that set it, and the reason of the customer',
      given: () => pushed('processor', 'customer.subscription.updated', set),
      details: {
        origin: request,
        customer,
        payment: payment({ plan, refund_reason: 'unused' }),
        mode: 'live',
        dashboardUrl: subscriptionPage,
      },
    },
    {
      name: 'an update that does not change the end: no origin',
      given: () =>
        pushed('processor', 'customer.subscription.updated', {
          ...set,
          request: bySomebody,
          data: { ...set.data, previous_attributes: { metadata: {} } },
        }),
      details: {
        customer,
        payment: payment({ plan, refund_reason: 'unused' }),
        mode: 'live',
        dashboardUrl: subscriptionPage,
      },
    },
    {
      name: 'the removal of a scheduled end: no origin',
      given: () =>
        pushed('processor', 'customer.subscription.updated', {
          ...set,
          request: bySomebody,
          data: { object: subscription, previous_attributes: { cancel_at: 1_766_600_000 } },
        }),
      details: { customer, payment: payment({ plan }), mode: 'live', dashboardUrl: subscriptionPage },
    },
    {
      name: 'a scheduled end that takes effect: no origin, because another event has the request',
      given: () => pushed('processor', 'customer.subscription.deleted', ended),
      details: {
        customer,
        payment: payment({ plan, refund_reason: 'unused' }),
        mode: 'live',
        dashboardUrl: subscriptionPage,
      },
    },
    {
      name: 'an end because the payment failed: automatic',
      given: () =>
        pushed('processor', 'customer.subscription.deleted', {
          ...ended,
          data: { object: { ...ended.data.object, cancellation_details: { reason: 'payment_failed' } } },
        }),
      details: {
        origin: origin({ channel: 'automatic' }),
        customer,
        payment: payment({ plan, refund_reason: 'payment_failed' }),
        mode: 'live',
        dashboardUrl: subscriptionPage,
      },
    },
    {
      name: 'a subscription that is read with its customer, invoice and product',
      given: () => {
        const [item] = subscription.items.data
        return read('processor', 'subscription', {
          ...subscription,
          customer: { id: 'cus_9', name: 'Sam Buyer', email: 'buyer@shop.example' },
          latest_invoice: { id: 'in_1N', number: 'F3A1-0042' },
          items: { data: [{ ...item, price: { ...item?.price, product: { id: 'prod_N', name: 'Team' } } }] },
        })
      },
      details: {
        customer: payer,
        payment: payment({ number: 'F3A1-0042', plan: 'Team' }),
        mode: 'live',
        dashboardUrl: subscriptionPage,
      },
    },
    {
      name: 'a schedule that ends its subscription: the request that made it',
      given: () =>
        pushed('processor', 'subscription_schedule.created', PROCESSOR_EVENTS['subscription_schedule.created']),
      details: { origin: request, customer, mode: 'live', dashboardUrl: subscriptionPage },
    },
  ]
  test.each(rows)('$name', ({ given, details }) => {
    expect(given()).toEqual(details)
  })
})

describe('the details of the subscription biller', () => {
  const { transaction, subscription } = SUBSCRIPTION_OBJECTS
  const customer = { id: 'cus-9', name: 'Sam Buyer', email: 'buyer@shop.example' }
  const refunded = SUBSCRIPTION_EVENTS.payment_refunded
  const refundPayment = payment({ number: 'INV-88', refund_reason: 'Service Unsatisfactory', destination: 'visa 4242' })
  const refundPage = 'https://acme.chargebee.com/d/transactions/txn_16Aa'
  const endPage = 'https://acme.chargebee.com/d/subscriptions/sub-77'
  const cancelled = SUBSCRIPTION_EVENTS.subscription_cancelled
  const plan = 'team-EUR-Monthly'
  const rows: Row[] = [
    {
      name: 'the event of a refund that is read: the operator',
      given: () => read('subscription', 'event', refunded),
      details: {
        origin: origin({ channel: 'dashboard', user: 'ops@example.com' }),
        customer,
        payment: refundPayment,
        mode: 'live',
        dashboardUrl: refundPage,
      },
    },
    {
      name: 'a refund that is read alone: no origin, and only the id of the customer',
      given: () => read('subscription', 'transaction', transaction),
      details: {
        customer: { id: 'cus-9', name: null, email: null },
        payment: payment({ number: 'INV-88', refund_reason: 'Service Unsatisfactory', destination: 'card 4242' }),
        mode: 'live',
        dashboardUrl: refundPage,
      },
    },
    {
      name: 'the event of an update: no origin',
      given: () => read('subscription', 'event', SUBSCRIPTION_EVENTS.transaction_updated),
      details: {
        customer: { id: 'cus-9', name: null, email: null },
        payment: payment({ number: 'INV-88', refund_reason: 'Service Unsatisfactory', destination: 'card 4242' }),
        mode: 'live',
        dashboardUrl: refundPage,
      },
    },
    {
      name: 'a customer without a name: the company, and the address of the bill',
      given: () =>
        read('subscription', 'event', {
          ...refunded,
          content: {
            ...refunded.content,
            customer: { id: 'cus-9', company: 'Söhne & Co KG', billing_address: { email: 'bills@shop.example' } },
          },
        }),
      details: {
        origin: origin({ channel: 'dashboard', user: 'ops@example.com' }),
        customer: { id: 'cus-9', name: 'Söhne & Co KG', email: 'bills@shop.example' },
        payment: refundPayment,
        mode: 'live',
        dashboardUrl: refundPage,
      },
    },
    {
      name: 'a refund by cheque, in a test site',
      given: () =>
        read(
          'subscription',
          'transaction',
          { ...transaction, payment_method: 'check', last4: undefined, masked_card_number: undefined },
          { site: 'acme-test' },
        ),
      details: {
        customer: { id: 'cus-9', name: null, email: null },
        payment: payment({ number: 'INV-88', refund_reason: 'Service Unsatisfactory', destination: 'check' }),
        mode: 'test',
        dashboardUrl: 'https://acme-test.chargebee.com/d/transactions/txn_16Aa',
      },
    },
    {
      name: 'a refund in an unknown site: neither mode nor page',
      given: () => read('subscription', 'transaction', { ...transaction, linked_credit_notes: [] }, { site: null }),
      details: { customer: { id: 'cus-9', name: null, email: null }, payment: payment({ destination: 'card 4242' }) },
    },
    {
      name: 'the event of an end: the operator, the plan and the chosen reason',
      given: () =>
        read('subscription', 'event', {
          ...cancelled,
          content: {
            ...cancelled.content,
            subscription: { ...cancelled.content.subscription, cancel_reason_code: 'Too expensive' },
          },
        }),
      details: {
        origin: origin({ channel: 'dashboard', user: 'ops@example.com' }),
        customer,
        payment: payment({ plan, refund_reason: 'Too expensive' }),
        mode: 'live',
        dashboardUrl: endPage,
      },
    },
    {
      name: 'a scheduled end that takes effect: no origin, because another event has the person',
      given: () => read('subscription', 'event', { ...cancelled, source: 'scheduled_job', user: undefined }),
      details: { customer, payment: payment({ plan }), mode: 'live', dashboardUrl: endPage },
    },
    {
      name: 'an end because the payment failed: automatic',
      given: () =>
        read('subscription', 'subscription', {
          ...subscription,
          status: 'cancelled',
          cancelled_at: 1_764_000_000,
          cancel_reason: 'not_paid',
        }),
      details: {
        origin: origin({ channel: 'automatic' }),
        customer: { id: 'cus-9', name: null, email: null },
        payment: payment({ plan, refund_reason: 'not_paid' }),
        mode: 'live',
        dashboardUrl: endPage,
      },
    },
    {
      name: 'the removal of a scheduled end: no origin',
      given: () => read('subscription', 'event', SUBSCRIPTION_EVENTS.subscription_scheduled_cancellation_removed),
      details: { customer, payment: payment({ plan }), mode: 'live', dashboardUrl: endPage },
    },
    {
      name: 'a subscription of a product catalogue of version 1',
      given: () =>
        read('subscription', 'subscription', { ...subscription, subscription_items: undefined, plan_id: 'gold' }),
      details: {
        customer: { id: 'cus-9', name: null, email: null },
        payment: payment({ plan: 'gold' }),
        mode: 'live',
        dashboardUrl: endPage,
      },
    },
  ]
  test.each(rows)('$name', ({ given, details }) => {
    expect(given()).toEqual(details)
  })

  test.each([
    { source: 'admin_console', user: 'ops@example.com', known: { channel: 'dashboard', user: 'ops@example.com' } },
    { source: 'api', user: 'Refund key', known: { channel: 'api', key_name: 'Refund key' } },
    {
      source: 'api',
      user: 'Refund key',
      origin_user: 'kim@example.com',
      known: { channel: 'api', key_name: 'Refund key', user: 'kim@example.com' },
    },
    { source: 'js_api', user: 'Checkout key', known: { channel: 'api', key_name: 'Checkout key' } },
    { source: 'bulk_operation', user: 'Import key', known: { channel: 'api', key_name: 'Import key' } },
    { source: 'scheduled_job', known: { channel: 'automatic' } },
    { source: 'system', known: { channel: 'automatic' } },
    { source: 'hosted_page', known: { channel: 'hosted_page' } },
    { source: 'portal', known: { channel: 'hosted_page' } },
    { source: 'external_service', user: 'STRIPE', known: undefined },
    { source: 'migration', known: undefined },
    { source: 'none', known: undefined },
    { source: 'a_source_of_next_year', user: 'someone', known: undefined },
    { source: 7, known: undefined },
  ] as const)('the origin with source $source is $known', ({ known, ...said }) => {
    const { user, ...event } = refunded
    expect(read('subscription', 'event', { ...event, ...said })?.origin).toEqual(known && origin(known))
  })

  test('come from the event that is read, and never from the pushed event', () => {
    const given = { projectId: 'prj_1', connectionId: 'con_1', eventId: 'ev_1', eventType: 'payment_refunded' }
    const targets = [
      { type: 'transaction', id: 'txn_16Aa' },
      { type: 'event', id: 'ev_1' },
    ]
    for (const user of ['ops@example.com', 'attacker@example.com']) {
      expect(PROVIDERS.subscription.normaliseEvent(given, { ...refunded, user })).toEqual({ kind: 'hint', targets })
    }
  })

  test('of an unusable event are ignored, because its object is read too', () => {
    for (const event of [{}, { ...refunded, content: null }, { ...refunded, content: { transaction: { id: 7 } } }]) {
      expect(
        PROVIDERS.subscription.normaliseObject({ ...READ, site: 'acme' }, 'event', event),
        JSON.stringify(event),
      ).toMatchObject({ kind: 'ignored' })
    }
  })
})

describe('the details of the reseller', () => {
  const { adjustment, subscription } = RESELLER_OBJECTS
  const customer = { id: 'ctm_01k6', name: null, email: null }
  const reason = payment({ refund_reason: 'op:7f2 customer request' })
  const rows: Row[] = [
    {
      name: 'a refund in an event: neither origin nor mode nor page',
      given: () => pushed('reseller', 'adjustment.created', RESELLER_EVENTS['adjustment.created']),
      details: { customer, payment: reason },
    },
    {
      name: 'a refund that is read with a live key',
      given: () => read('reseller', 'adjustment', adjustment, { mode: 'live' }),
      details: {
        customer,
        payment: reason,
        mode: 'live',
        dashboardUrl: 'https://vendors.paddle.com/transactions-v2/txn_01k8',
      },
    },
    {
      name: 'a subscription that is read with a key of the sandbox',
      given: () => read('reseller', 'subscription', subscription, { mode: 'test' }),
      details: {
        customer,
        payment: payment({ plan: 'Team plan' }),
        mode: 'test',
        dashboardUrl: 'https://sandbox-vendors.paddle.com/subscriptions-v2/sub_01k7',
      },
    },
    {
      name: 'an end in an event: no origin',
      given: () => pushed('reseller', 'subscription.canceled', RESELLER_EVENTS['subscription.canceled']),
      details: { customer, payment: payment({ plan: 'Team plan' }) },
    },
  ]
  test.each(rows)('$name', ({ given, details }) => {
    expect(given()).toEqual(details)
  })
})

const HOSTILE: readonly unknown[] = [
  undefined,
  null,
  '',
  ' ',
  7,
  true,
  [],
  {},
  { id: {} },
  'x'.repeat(10_000),
  'a\u0000b',
  'a\nb',
  'a\u009bb',
  'a\u2028b',
  'a\u202eb',
  '\ud800',
]

describe('a missing or hostile value', () => {
  /** The fields of details, and the objects that contain them. */
  const fields: { kind: ProviderKind; type: string; given: Json; paths: string[] }[] = [
    {
      kind: 'processor',
      type: 'event',
      given: { ...PROCESSOR_EVENTS['charge.refunded'] },
      paths: [
        'request.id',
        'request.idempotency_key',
        'livemode',
        'account',
        'data.object.customer',
        'data.object.billing_details',
        'data.object.billing_details.name',
        'data.object.billing_details.email',
        'data.object.receipt_email',
        'data.object.receipt_number',
        'data.object.payment_method_details',
        'data.object.payment_method_details.type',
        'data.object.payment_method_details.card',
        'data.object.payment_method_details.card.brand',
        'data.object.payment_method_details.card.last4',
      ],
    },
    {
      kind: 'processor',
      type: 'refund',
      given: { ...PROCESSOR_OBJECTS.refund, charge: PROCESSOR_OBJECTS.charge },
      paths: [
        'charge.livemode',
        'customer',
        'destination_details',
        'destination_details.type',
        'receipt_number',
        'reason',
      ],
    },
    {
      kind: 'processor',
      type: 'subscription',
      given: { ...PROCESSOR_EVENTS['customer.subscription.updated'].data.object },
      paths: [
        'livemode',
        'customer',
        'latest_invoice',
        'cancellation_details.feedback',
        'cancellation_details.reason',
        'items.data.0.price',
        'items.data.0.price.nickname',
        'items.data.0.price.product',
      ],
    },
    {
      kind: 'subscription',
      type: 'event',
      given: { ...SUBSCRIPTION_EVENTS.payment_refunded },
      paths: [
        'source',
        'user',
        'origin_user',
        'content.customer',
        'content.customer.first_name',
        'content.customer.last_name',
        'content.customer.email',
        'content.invoice',
        'content.invoice.id',
        'content.card',
        'content.card.card_type',
        'content.card.last4',
        'content.transaction.customer_id',
        'content.transaction.masked_card_number',
        'content.transaction.payment_method',
        'content.transaction.linked_credit_notes.0.cn_create_reason_code',
      ],
    },
    {
      kind: 'subscription',
      type: 'event',
      given: { ...SUBSCRIPTION_EVENTS.subscription_cancelled },
      paths: [
        'content.subscription.customer_id',
        'content.subscription.cancel_reason_code',
        'content.subscription.subscription_items',
        'content.subscription.subscription_items.0.item_price_id',
      ],
    },
    {
      kind: 'reseller',
      type: 'adjustment',
      given: { ...RESELLER_OBJECTS.adjustment },
      paths: ['customer_id', 'reason', 'transaction_id'],
    },
    {
      kind: 'reseller',
      type: 'subscription',
      given: { ...RESELLER_OBJECTS.subscription },
      paths: [
        'customer_id',
        'items.0.product',
        'items.0.product.name',
        'items.0.price.name',
        'items.0.price.description',
      ],
    },
  ]
  const spots = fields.flatMap(({ paths, ...given }) => paths.map(path => ({ ...given, path })))

  test.each(spots)('in $path of the $kind ($type) is an absent fact', ({ kind, type, given, path }) => {
    const known = new Set(factsIn(read(kind, type, given, { mode: 'live' })))
    for (const value of HOSTILE) {
      const object = withValue(given, path.split('.'), value)
      const facts = factsIn(read(kind, type, object, { mode: 'live' }))
      // Another field may take the place of the missing one, so only the form of the facts is known.
      for (const fact of facts.filter(fact => !known.has(fact))) {
        expect(fact.length, `${path} = ${JSON.stringify(value)}`).toBeLessThanOrEqual(300)
        expect(fact, `${path} = ${JSON.stringify(value)}`).toMatch(/^[^\p{Cc}\p{Zl}\p{Cs}\u202e]+$/u)
        expect(fact, `${path} = ${JSON.stringify(value)}`).not.toContain('object Object')
      }
    }
  })
})

/** The texts of all facts. */
function factsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(factsIn) : []
}

function withValue(object: Json, path: readonly string[], value: unknown): Json {
  const copy = structuredClone(object) as Record<string, unknown>
  const holder = path.slice(0, -1).reduce((inner, name) => inner[name] as Record<string, unknown>, copy)
  holder[path.at(-1) as string] = value
  return copy
}
