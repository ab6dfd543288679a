import { describe, expect, test } from 'vitest'
import { hostileDetailsSuite, origin, payment, READ, type Row, read } from '../../test/details-suite.ts'
import { BILLER_EVENTS, BILLER_OBJECTS } from '../../test/samples/biller.ts'
import { PROVIDERS } from '../registry.ts'

describe('the details of the subscription biller', () => {
  const { transaction, subscription } = BILLER_OBJECTS
  const customer = { id: 'cus-9', name: 'Sam Buyer', email: 'buyer@shop.example' }
  const refunded = BILLER_EVENTS.payment_refunded
  const refundPayment = payment({ number: 'INV-88', refund_reason: 'Service Unsatisfactory', destination: 'visa 4242' })
  const refundPage = 'https://acme.chargebee.com/d/transactions/txn_16Aa'
  const endPage = 'https://acme.chargebee.com/d/subscriptions/sub-77'
  const cancelled = BILLER_EVENTS.subscription_cancelled
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
      given: () => read('subscription', 'event', BILLER_EVENTS.transaction_updated),
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
      given: () => read('subscription', 'event', BILLER_EVENTS.subscription_scheduled_cancellation_removed),
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

hostileDetailsSuite('subscription', [
  {
    type: 'event',
    given: { ...BILLER_EVENTS.payment_refunded },
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
    type: 'event',
    given: { ...BILLER_EVENTS.subscription_cancelled },
    paths: [
      'content.subscription.customer_id',
      'content.subscription.cancel_reason_code',
      'content.subscription.subscription_items',
      'content.subscription.subscription_items.0.item_price_id',
    ],
  },
])
