/**
 * One event of each type that hints at something, as the biller posts it; the official types check envelope and content.
 */
import type {
  CreditNote,
  CreditNoteCreatedContent,
  Event,
  PaymentRefundedContent,
  Subscription,
  SubscriptionCancelledContent,
  Transaction,
  TransactionUpdatedContent,
} from 'chargebee'
import { CARD, CREDIT_NOTE, CUSTOMER, INVOICE, REFUND, REFUNDED_NOTE, SUBSCRIPTION } from './biller-objects.ts'

/** Event content with the given members; all other members are optional. */
type With<Content, Always extends keyof Content> = Pick<Content, Always> & Partial<Content>
type SentEvent<Content> = Omit<Event, 'content'> & { object: 'event'; content: Content }

const ENVELOPE = {
  object: 'event',
  occurred_at: 1_764_000_200,
  source: 'admin_console',
  user: 'ops@example.com',
  api_version: 'v2',
  webhook_status: 'scheduled',
} satisfies Partial<Event & { object: 'event' }>

type EventType = NonNullable<Event['event_type']>

function refundEvent<Type extends EventType>(event_type: Type, now: Partial<Transaction> = {}) {
  const content = {
    transaction: { ...REFUND, ...now },
    invoice: INVOICE,
    credit_note: REFUNDED_NOTE,
    customer: CUSTOMER,
    card: CARD,
  }
  return { ...ENVELOPE, id: `ev_${event_type}`, event_type, content } satisfies SentEvent<
    With<PaymentRefundedContent, 'transaction'>
  >
}

function transactionEvent<Type extends EventType>(event_type: Type, now: Partial<Transaction> = {}) {
  return {
    ...ENVELOPE,
    id: `ev_${event_type}`,
    event_type,
    content: { transaction: { ...REFUND, ...now } },
  } satisfies SentEvent<TransactionUpdatedContent>
}

function creditNoteEvent<Type extends EventType>(event_type: Type, now: Partial<CreditNote> = {}) {
  return {
    ...ENVELOPE,
    id: `ev_${event_type}`,
    event_type,
    content: { credit_note: { ...CREDIT_NOTE, ...now } },
  } satisfies SentEvent<CreditNoteCreatedContent>
}

/** @param now the fields of the subscription after the event that differ from an active subscription */
function subscriptionEvent<Type extends EventType>(event_type: Type, now: Partial<Subscription> = {}) {
  const content = { subscription: { ...SUBSCRIPTION, ...now }, customer: CUSTOMER, card: CARD }
  return { ...ENVELOPE, id: `ev_${event_type}`, event_type, content } satisfies SentEvent<
    With<SubscriptionCancelledContent, 'subscription' | 'customer'>
  >
}

const SCHEDULED = {
  status: 'non_renewing',
  cancelled_at: 1_766_600_000,
  cancel_schedule_created_at: 1_764_000_300,
} satisfies Partial<Subscription>
const CANCELLED = { ...SCHEDULED, status: 'cancelled' } satisfies Partial<Subscription>
const PAUSED = { status: 'paused', pause_date: 1_764_000_100 } satisfies Partial<Subscription>

/** Sample objects, as the API answers them. */
export const BILLER_OBJECTS = { transaction: REFUND, credit_note: CREDIT_NOTE, subscription: SUBSCRIPTION }

/** Sample events, as the webhook receives them. */
export const BILLER_EVENTS = {
  payment_refunded: refundEvent('payment_refunded'),
  refund_initiated: refundEvent('refund_initiated', { status: 'in_progress' }),
  transaction_updated: transactionEvent('transaction_updated'),
  transaction_deleted: transactionEvent('transaction_deleted', { deleted: true }),
  credit_note_created: creditNoteEvent('credit_note_created'),
  credit_note_created_with_backdating: creditNoteEvent('credit_note_created_with_backdating'),
  credit_note_updated: creditNoteEvent('credit_note_updated', REFUNDED_NOTE),
  credit_note_deleted: creditNoteEvent('credit_note_deleted', { deleted: true }),
  subscription_cancellation_scheduled: subscriptionEvent('subscription_cancellation_scheduled', SCHEDULED),
  subscription_scheduled_cancellation_removed: subscriptionEvent('subscription_scheduled_cancellation_removed'),
  subscription_cancelled: subscriptionEvent('subscription_cancelled', CANCELLED),
  subscription_canceled_with_backdating: subscriptionEvent('subscription_canceled_with_backdating', CANCELLED),
  subscription_reactivated: subscriptionEvent('subscription_reactivated'),
  subscription_reactivated_with_backdating: subscriptionEvent('subscription_reactivated_with_backdating'),
  subscription_deleted: subscriptionEvent('subscription_deleted', { ...CANCELLED, deleted: true }),
  subscription_pause_scheduled: subscriptionEvent('subscription_pause_scheduled', { pause_date: 1_766_600_000 }),
  subscription_scheduled_pause_removed: subscriptionEvent('subscription_scheduled_pause_removed'),
  subscription_paused: subscriptionEvent('subscription_paused', PAUSED),
  subscription_resumed: subscriptionEvent('subscription_resumed'),
  subscription_resumption_scheduled: subscriptionEvent('subscription_resumption_scheduled', {
    ...PAUSED,
    resume_date: 1_766_600_000,
  }),
  subscription_scheduled_resumption_removed: subscriptionEvent('subscription_scheduled_resumption_removed', PAUSED),
  subscription_changed: subscriptionEvent('subscription_changed'),
  subscription_changed_with_backdating: subscriptionEvent('subscription_changed_with_backdating'),
}
