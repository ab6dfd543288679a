import { describe, expect, test } from 'vitest'
import { hostileDetailsSuite, origin, payment, pushed, type Row, read } from '../../test/details-suite.ts'
import { PROCESSOR_EVENTS, PROCESSOR_OBJECTS } from '../../test/samples/processor.ts'

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
      name: 'an event of a connected account: the account, and no page',
      given: () => pushed('processor', 'refund.created', { ...made, account: 'acct_1' }),
      details: {
        origin: request,
        customer,
        payment: payment({ refund_reason: 'requested_by_customer', destination: 'card' }),
        mode: 'live',
        account: 'acct_1',
      },
    },
    {
      name: 'an event of an old API version, whose request is a text',
      given: () => pushed('processor', 'refund.created', { ...made, request: 'req_old' }),
      details: {
        origin: { ...request, request_id: 'req_old', idempotency_key: null },
        customer,
        payment: payment({ refund_reason: 'requested_by_customer', destination: 'card' }),
        mode: 'live',
        dashboardUrl: page,
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

hostileDetailsSuite('processor', [
  {
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
])
