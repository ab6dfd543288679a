/** One event of each type that is judged or recorded, as the reseller posts it; the official types check them. */
import type {
  IAdjustmentNotificationResponse,
  IEventsResponse,
  IPriceNotificationResponse,
  IProductNotificationResponse,
  ISubscriptionNotificationResponse,
  ITransactionResponse,
} from '@paddle/paddle-node-sdk'

type AdjustmentEvent = IEventsResponse<IAdjustmentNotificationResponse>
type SubscriptionEvent = IEventsResponse<ISubscriptionNotificationResponse>

const TOTALS = {
  subtotal: '2083',
  tax: '416',
  total: '2499',
  fee: '125',
  earnings: '1958',
  currency_code: 'USD',
} as const

/** A partial refund of 24.99 USD that waits for the reseller's review. */
const ADJUSTMENT = {
  id: 'adj_01k9a0m2zz',
  action: 'refund',
  type: 'partial',
  transaction_id: 'txn_01k8',
  subscription_id: 'sub_01k7',
  customer_id: 'ctm_01k6',
  reason: 'op:7f2 customer request',
  credit_applied_to_balance: false,
  currency_code: 'USD',
  status: 'pending_approval',
  items: [{ id: 'adjitm_01', item_id: 'txnitm_01', type: 'partial', amount: '2499', proration: null, totals: TOTALS }],
  totals: { ...TOTALS, retained_fee: '0' },
  payout_totals: null,
  created_at: '2025-11-20T10:15:30.1Z',
  updated_at: '2025-11-20T10:15:30.1Z',
} satisfies IAdjustmentNotificationResponse

const PRODUCT = {
  id: 'pro_01k5',
  name: 'Team plan',
  type: 'standard',
  description: null,
  tax_category: 'standard',
  image_url: null,
  custom_data: null,
  status: 'active',
  created_at: '2025-10-01T00:00:00Z',
  import_meta: null,
} satisfies IProductNotificationResponse

const PRICE = {
  id: 'pri_01k5',
  product_id: 'pro_01k5',
  description: 'Monthly',
  type: 'standard',
  name: null,
  billing_cycle: { interval: 'month', frequency: 1 },
  trial_period: null,
  tax_mode: 'internal',
  unit_price: { amount: '4999', currency_code: 'USD' },
  unit_price_overrides: [],
  quantity: { minimum: 1, maximum: 100 },
  status: 'active',
  created_at: '2025-10-01T00:00:00Z',
  updated_at: '2025-10-01T00:00:00Z',
  custom_data: null,
  import_meta: null,
} satisfies IPriceNotificationResponse

/** An active monthly subscription. */
const SUBSCRIPTION = {
  id: 'sub_01k7',
  status: 'active',
  customer_id: 'ctm_01k6',
  address_id: 'add_01k6',
  business_id: null,
  currency_code: 'USD',
  created_at: '2025-11-12T00:00:00Z',
  updated_at: '2025-11-12T00:00:00Z',
  started_at: '2025-11-12T00:00:00Z',
  first_billed_at: '2025-11-12T00:00:00Z',
  next_billed_at: '2025-12-12T00:00:00Z',
  paused_at: null,
  canceled_at: null,
  discount: null,
  collection_mode: 'automatic',
  billing_details: null,
  current_billing_period: { starts_at: '2025-11-12T00:00:00Z', ends_at: '2025-12-12T00:00:00Z' },
  billing_cycle: { interval: 'month', frequency: 1 },
  scheduled_change: null,
  items: [
    {
      status: 'active',
      quantity: 1,
      recurring: true,
      created_at: '2025-11-12T00:00:00Z',
      updated_at: '2025-11-12T00:00:00Z',
      previously_billed_at: '2025-11-12T00:00:00Z',
      next_billed_at: '2025-12-12T00:00:00Z',
      trial_dates: null,
      price: PRICE,
      product: PRODUCT,
    },
  ],
  custom_data: { tenant: 't1' },
  import_meta: null,
} satisfies ISubscriptionNotificationResponse

/** The payment of the subscription, with the customer that `include=customer` adds. */
export const RESELLER_TRANSACTION = {
  id: 'txn_01k8',
  status: 'completed',
  customer_id: 'ctm_01k6',
  address_id: 'add_01k6',
  business_id: null,
  custom_data: null,
  currency_code: 'USD',
  origin: 'subscription_recurring',
  subscription_id: 'sub_01k7',
  invoice_id: 'inv_01k8',
  invoice_number: '325-10566',
  collection_mode: 'automatic',
  discount_id: null,
  billing_details: null,
  billing_period: { starts_at: '2025-11-12T00:00:00Z', ends_at: '2025-12-12T00:00:00Z' },
  items: [],
  payments: [],
  checkout: { url: null },
  created_at: '2025-11-12T00:00:00Z',
  updated_at: '2025-11-12T00:00:03Z',
  billed_at: '2025-11-12T00:00:01Z',
  revised_at: null,
  customer: {
    id: 'ctm_01k6',
    name: 'Sam Buyer',
    email: 'buyer@shop.example',
    marketing_consent: false,
    status: 'active',
    custom_data: null,
    locale: 'en',
    created_at: '2025-11-12T00:00:00Z',
    updated_at: '2025-11-12T00:00:00Z',
    import_meta: null,
  },
} satisfies ITransactionResponse

/** Sample objects, as the API answers them. */
export const RESELLER_OBJECTS = { adjustment: ADJUSTMENT, subscription: SUBSCRIPTION }

/** Sample events, as the webhook receives them. */
export const RESELLER_EVENTS = {
  'adjustment.created': {
    event_id: 'evt_01k9a0m3v6n7q8r9s0t1u2v3w4',
    event_type: 'adjustment.created',
    occurred_at: '2025-11-20T10:15:30.123456Z',
    notification_id: 'ntf_01k9a0m4aaaabbbbccccddddee',
    data: ADJUSTMENT,
  } satisfies AdjustmentEvent,
  'adjustment.updated': {
    event_id: 'evt_01k9a0n3v6n7q8r9s0t1u2v3w4',
    event_type: 'adjustment.updated',
    occurred_at: '2025-11-20T10:25:30.123456Z',
    notification_id: 'ntf_01k9a0n4aaaabbbbccccddddee',
    data: { ...ADJUSTMENT, status: 'approved', updated_at: '2025-11-20T10:25:30.1Z' },
  } satisfies AdjustmentEvent,
  'subscription.updated': {
    event_id: 'evt_01k9b0m3v6n7q8r9s0t1u2v3w4',
    event_type: 'subscription.updated',
    occurred_at: '2025-11-20T11:00:00.5Z',
    notification_id: 'ntf_01k9b0m4aaaabbbbccccddddee',
    data: {
      ...SUBSCRIPTION,
      next_billed_at: null,
      scheduled_change: { action: 'cancel', effective_at: '2025-12-12T00:00:00Z', resume_at: null },
      updated_at: '2025-11-20T11:00:00.4Z',
    },
  } satisfies SubscriptionEvent,
  'subscription.canceled': {
    event_id: 'evt_01kc90m3v6n7q8r9s0t1u2v3w4',
    event_type: 'subscription.canceled',
    occurred_at: '2025-12-12T00:00:01.5Z',
    notification_id: 'ntf_01kc90m4aaaabbbbccccddddee',
    data: {
      ...SUBSCRIPTION,
      status: 'canceled',
      canceled_at: '2025-12-12T00:00:01Z',
      next_billed_at: null,
      current_billing_period: null,
      updated_at: '2025-12-12T00:00:01.2Z',
    },
  } satisfies SubscriptionEvent,
  'subscription.paused': {
    event_id: 'evt_01k9c0m3v6n7q8r9s0t1u2v3w4',
    event_type: 'subscription.paused',
    occurred_at: '2025-11-20T12:00:00.5Z',
    notification_id: 'ntf_01k9c0m4aaaabbbbccccddddee',
    data: {
      ...SUBSCRIPTION,
      status: 'paused',
      paused_at: '2025-11-20T12:00:00Z',
      next_billed_at: null,
      current_billing_period: null,
      updated_at: '2025-11-20T12:00:00.2Z',
    },
  } satisfies SubscriptionEvent,
  'subscription.resumed': {
    event_id: 'evt_01k9d0m3v6n7q8r9s0t1u2v3w4',
    event_type: 'subscription.resumed',
    occurred_at: '2025-11-20T13:00:00.5Z',
    notification_id: 'ntf_01k9d0m4aaaabbbbccccddddee',
    data: { ...SUBSCRIPTION, updated_at: '2025-11-20T13:00:00.2Z' },
  } satisfies SubscriptionEvent,
  'subscription.past_due': {
    event_id: 'evt_01kc80m3v6n7q8r9s0t1u2v3w4',
    event_type: 'subscription.past_due',
    occurred_at: '2025-12-12T00:10:00.5Z',
    notification_id: 'ntf_01kc80m4aaaabbbbccccddddee',
    data: { ...SUBSCRIPTION, status: 'past_due', updated_at: '2025-12-12T00:10:00.2Z' },
  } satisfies SubscriptionEvent,
}
