import { describe, expect, test } from 'vitest'
import { hostileDetailsSuite, payment, pushed, type Row, read } from '../../test/details-suite.ts'
import { RESELLER_EVENTS, RESELLER_OBJECTS, RESELLER_TRANSACTION } from '../../test/samples/reseller.ts'

describe('the details of the reseller', () => {
  const { adjustment, subscription } = RESELLER_OBJECTS
  const transaction = RESELLER_TRANSACTION
  const customer = { id: 'ctm_01k6', name: null, email: null }
  const payer = { id: 'ctm_01k6', name: 'Sam Buyer', email: 'buyer@shop.example' }
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
      name: 'a refund that is read with its transaction: who paid, and the invoice number',
      given: () => read('reseller', 'adjustment', { ...adjustment, transaction }),
      details: { customer: payer, payment: { ...reason, number: '325-10566' } },
    },
    {
      name: 'a subscription that is read with its newest transaction',
      given: () => read('reseller', 'subscription', { ...subscription, transaction }),
      details: { customer: payer, payment: payment({ plan: 'Team plan', number: '325-10566' }) },
    },
    {
      name: 'a transaction without a customer: the id of the adjustment',
      given: () => read('reseller', 'adjustment', { ...adjustment, transaction: { ...transaction, customer: null } }),
      details: { customer, payment: { ...reason, number: '325-10566' } },
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

hostileDetailsSuite('reseller', [
  {
    type: 'adjustment',
    given: { ...RESELLER_OBJECTS.adjustment, transaction: RESELLER_TRANSACTION },
    paths: [
      'customer_id',
      'reason',
      'transaction_id',
      'transaction',
      'transaction.invoice_number',
      'transaction.customer',
      'transaction.customer.name',
      'transaction.customer.email',
    ],
  },
  {
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
])
