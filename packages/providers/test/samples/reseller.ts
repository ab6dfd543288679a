/** One event of each type that is judged or recorded, as the reseller posts it; the official types check them. */
import { createChance, createReseller } from '@backstop/simulator'
import type {
  IAdjustmentNotificationResponse,
  IEventsResponse,
  ISubscriptionNotificationResponse,
} from '@paddle/paddle-node-sdk'
import { withFixedValues } from './with-fixed-values.ts'

type AdjustmentEvent = IEventsResponse<IAdjustmentNotificationResponse>
type SubscriptionEvent = IEventsResponse<ISubscriptionNotificationResponse>

let now = '2025-11-12T00:00:00Z'
const account = createReseller({ now: () => Date.parse(now), chance: createChance(1) })
const person = { name: 'Sam Buyer', email: 'buyer@shop.example' }
const sold = account.subscribe({ amount: 4999, customData: { tenant: 't1' }, person })
now = '2025-11-20T10:15:30.1Z'
const refund = account.refund({ transactionId: sold.transaction.id, amount: 2499, reason: 'op:7f2 customer request' })

const VALUES = {
  [refund.id]: 'adj_01k9a0m2zz',
  [sold.transaction.id]: 'txn_01k8',
  [sold.subscription.id]: 'sub_01k7',
  [sold.subscription.customer_id]: 'ctm_01k6',
}

/** A partial refund of 24.99 USD that waits for the reseller's review. */
const ADJUSTMENT = withFixedValues(refund, VALUES)

/** An active monthly subscription. */
const SUBSCRIPTION = { ...withFixedValues(sold.subscription, VALUES), next_billed_at: '2025-12-12T00:00:00Z' }

/** The payment of the subscription, with the customer that `include=customer` adds. */
export const RESELLER_TRANSACTION = withFixedValues(
  {
    ...{ ...sold.transaction, invoice_number: '325-10566' },
    customer: account.customer(sold.subscription.customer_id),
  },
  VALUES,
)

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
