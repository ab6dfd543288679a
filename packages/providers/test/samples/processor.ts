/** One event of each type that is judged or recorded, as the processor posts it. */
import type { ProcessorSubscription } from '@backstop/simulator'
import type Stripe from 'stripe'
import { CHARGE, DISPUTE, REFUND, SCHEDULE, SUBSCRIPTION } from './processor-objects.ts'

type SubscriptionEvent<Type extends Stripe.Event['type']> = Omit<Stripe.EventBase, 'type' | 'data'> & {
  type: Type
  data: { object: ProcessorSubscription; previous_attributes?: Partial<ProcessorSubscription> }
}

const ENVELOPE = {
  object: 'event',
  api_version: '2026-10-28.endive',
  created: 1_764_000_000,
  livemode: true,
  pending_webhooks: 1,
  request: { id: 'req_k3', idempotency_key: 'cxl-op-7f2' },
} satisfies Partial<Stripe.EventBase>

/** The envelope of a change that the processor made without a request. */
const BY_ITSELF = { ...ENVELOPE, request: { id: null, idempotency_key: null } }

const SCHEDULED = {
  ...SUBSCRIPTION,
  cancel_at: 1_766_600_000,
  canceled_at: 1_764_000_000,
  cancellation_details: { comment: null, feedback: 'unused', feedback_option: null, reason: 'cancellation_requested' },
} satisfies ProcessorSubscription

const PAUSED = {
  ...SUBSCRIPTION,
  status: 'paused',
  status_details: {
    paused: { subscription: { type: 'pause_requested' }, transitioned_at: 1_764_000_000, type: 'subscription' },
  },
} satisfies ProcessorSubscription

/** Sample objects, as the API answers them. */
export const PROCESSOR_OBJECTS = {
  refund: REFUND,
  charge: CHARGE,
  subscription: SUBSCRIPTION,
  subscription_schedule: SCHEDULE,
  dispute: DISPUTE,
}

/** Sample events, as the webhook receives them. */
export const PROCESSOR_EVENTS = {
  'refund.created': {
    ...ENVELOPE,
    id: 'evt_refund_created',
    type: 'refund.created',
    data: { object: REFUND },
  } satisfies Stripe.RefundCreatedEvent,
  'refund.updated': {
    ...BY_ITSELF,
    id: 'evt_refund_updated',
    type: 'refund.updated',
    data: { object: { ...REFUND, status: 'succeeded' }, previous_attributes: { status: 'pending' } },
  } satisfies Stripe.RefundUpdatedEvent,
  'refund.failed': {
    ...BY_ITSELF,
    id: 'evt_refund_failed',
    type: 'refund.failed',
    data: {
      object: {
        ...REFUND,
        status: 'failed',
        failure_reason: 'lost_or_stolen_card',
        failure_balance_transaction: 'txn_3R',
      },
    },
  } satisfies Stripe.RefundFailedEvent,
  'charge.refund.updated': {
    ...BY_ITSELF,
    id: 'evt_charge_refund_updated',
    type: 'charge.refund.updated',
    data: { object: { ...REFUND, status: 'succeeded' }, previous_attributes: { status: 'pending' } },
  } satisfies Stripe.ChargeRefundUpdatedEvent,
  'charge.refunded': {
    ...ENVELOPE,
    id: 'evt_charge_refunded',
    type: 'charge.refunded',
    data: { object: CHARGE, previous_attributes: { amount_refunded: 0 } },
  } satisfies Stripe.ChargeRefundedEvent,
  'customer.subscription.updated': {
    ...ENVELOPE,
    id: 'evt_subscription_updated',
    type: 'customer.subscription.updated',
    data: {
      object: SCHEDULED,
      previous_attributes: {
        cancel_at: null,
        canceled_at: null,
        cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
      },
    },
  } satisfies SubscriptionEvent<'customer.subscription.updated'>,
  'customer.subscription.deleted': {
    ...BY_ITSELF,
    id: 'evt_subscription_deleted',
    type: 'customer.subscription.deleted',
    created: 1_766_600_001,
    data: { object: { ...SCHEDULED, status: 'canceled', ended_at: 1_766_600_000 } },
  } satisfies SubscriptionEvent<'customer.subscription.deleted'>,
  'customer.subscription.paused': {
    ...ENVELOPE,
    id: 'evt_subscription_paused',
    type: 'customer.subscription.paused',
    data: { object: PAUSED },
  } satisfies SubscriptionEvent<'customer.subscription.paused'>,
  'customer.subscription.resumed': {
    ...ENVELOPE,
    id: 'evt_subscription_resumed',
    type: 'customer.subscription.resumed',
    data: { object: SUBSCRIPTION },
  } satisfies SubscriptionEvent<'customer.subscription.resumed'>,
  'subscription_schedule.created': {
    ...ENVELOPE,
    id: 'evt_schedule_created',
    type: 'subscription_schedule.created',
    data: { object: SCHEDULE },
  } satisfies Stripe.SubscriptionScheduleCreatedEvent,
  'subscription_schedule.updated': {
    ...ENVELOPE,
    id: 'evt_schedule_updated',
    type: 'subscription_schedule.updated',
    data: { object: SCHEDULE, previous_attributes: { end_behavior: 'release' } },
  } satisfies Stripe.SubscriptionScheduleUpdatedEvent,
  'subscription_schedule.expiring': {
    ...BY_ITSELF,
    id: 'evt_schedule_expiring',
    type: 'subscription_schedule.expiring',
    data: { object: SCHEDULE },
  } satisfies Stripe.SubscriptionScheduleExpiringEvent,
  'subscription_schedule.completed': {
    ...BY_ITSELF,
    id: 'evt_schedule_completed',
    type: 'subscription_schedule.completed',
    created: 1_766_600_001,
    data: { object: { ...SCHEDULE, status: 'completed', completed_at: 1_766_600_000, current_phase: null } },
  } satisfies Stripe.SubscriptionScheduleCompletedEvent,
  'subscription_schedule.released': {
    ...ENVELOPE,
    id: 'evt_schedule_released',
    type: 'subscription_schedule.released',
    data: {
      object: {
        ...SCHEDULE,
        status: 'released',
        released_at: 1_764_000_000,
        current_phase: null,
        released_subscription: 'sub_1N',
        subscription: null,
      },
    },
  } satisfies Stripe.SubscriptionScheduleReleasedEvent,
  'subscription_schedule.canceled': {
    ...ENVELOPE,
    id: 'evt_schedule_canceled',
    type: 'subscription_schedule.canceled',
    data: { object: { ...SCHEDULE, status: 'canceled', canceled_at: 1_764_000_000, current_phase: null } },
  } satisfies Stripe.SubscriptionScheduleCanceledEvent,
  'subscription_schedule.aborted': {
    ...BY_ITSELF,
    id: 'evt_schedule_aborted',
    type: 'subscription_schedule.aborted',
    data: { object: { ...SCHEDULE, status: 'canceled', canceled_at: 1_764_000_000, current_phase: null } },
  } satisfies Stripe.SubscriptionScheduleAbortedEvent,
  'charge.dispute.created': {
    ...BY_ITSELF,
    id: 'evt_dispute_created',
    type: 'charge.dispute.created',
    data: { object: DISPUTE },
  } satisfies Stripe.ChargeDisputeCreatedEvent,
  'charge.dispute.updated': {
    ...BY_ITSELF,
    id: 'evt_dispute_updated',
    type: 'charge.dispute.updated',
    data: { object: { ...DISPUTE, status: 'under_review' }, previous_attributes: { status: 'needs_response' } },
  } satisfies Stripe.ChargeDisputeUpdatedEvent,
  'charge.dispute.closed': {
    ...BY_ITSELF,
    id: 'evt_dispute_closed',
    type: 'charge.dispute.closed',
    data: { object: { ...DISPUTE, status: 'lost' } },
  } satisfies Stripe.ChargeDisputeClosedEvent,
  'charge.dispute.funds_withdrawn': {
    ...BY_ITSELF,
    id: 'evt_dispute_funds_withdrawn',
    type: 'charge.dispute.funds_withdrawn',
    data: { object: DISPUTE },
  } satisfies Stripe.ChargeDisputeFundsWithdrawnEvent,
  'charge.dispute.funds_reinstated': {
    ...BY_ITSELF,
    id: 'evt_dispute_funds_reinstated',
    type: 'charge.dispute.funds_reinstated',
    data: { object: { ...DISPUTE, status: 'won' } },
  } satisfies Stripe.ChargeDisputeFundsReinstatedEvent,
}
