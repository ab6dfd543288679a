import type {
  CreditNoteCreatedContent,
  CreditNoteUpdatedContent,
  Event,
  InvoiceGeneratedContent,
  PaymentFailedContent,
  PaymentRefundedContent,
  PaymentSucceededContent,
  RefundInitiatedContent,
  SubscriptionCanceledWithBackdatingContent,
  SubscriptionCancellationScheduledContent,
  SubscriptionCancelledContent,
  SubscriptionChangedContent,
  SubscriptionCreatedContent,
  SubscriptionPausedContent,
  SubscriptionPauseScheduledContent,
  SubscriptionReactivatedContent,
  SubscriptionRenewedContent,
  SubscriptionResumedContent,
  SubscriptionResumptionScheduledContent,
  SubscriptionScheduledCancellationRemovedContent,
  SubscriptionScheduledPauseRemovedContent,
  TransactionUpdatedContent,
} from 'chargebee'
import { makeId, type ObjectContext, secondsOf } from './object-context.ts'

/** Event content with the given members; all other members are optional. */
type With<Content, Always extends keyof Content> = Pick<Content, Always> & Partial<Content>

type Bought<Content extends { subscription: unknown; customer: unknown; card: unknown }> = With<
  Content,
  'subscription' | 'customer' | 'card'
>

interface Contents {
  subscription_created: Bought<SubscriptionCreatedContent>
  subscription_renewed: Bought<SubscriptionRenewedContent>
  subscription_changed: Bought<SubscriptionChangedContent>
  subscription_cancellation_scheduled: Bought<SubscriptionCancellationScheduledContent>
  subscription_scheduled_cancellation_removed: Bought<SubscriptionScheduledCancellationRemovedContent>
  subscription_cancelled: Bought<SubscriptionCancelledContent>
  subscription_canceled_with_backdating: Bought<SubscriptionCanceledWithBackdatingContent>
  subscription_reactivated: Bought<SubscriptionReactivatedContent>
  subscription_pause_scheduled: Bought<SubscriptionPauseScheduledContent>
  subscription_scheduled_pause_removed: Bought<SubscriptionScheduledPauseRemovedContent>
  subscription_paused: Bought<SubscriptionPausedContent>
  subscription_resumption_scheduled: Bought<SubscriptionResumptionScheduledContent>
  subscription_resumed: Bought<SubscriptionResumedContent>
  invoice_generated: InvoiceGeneratedContent
  payment_succeeded: With<PaymentSucceededContent, 'transaction' | 'invoice' | 'customer'>
  payment_failed: With<PaymentFailedContent, 'transaction' | 'invoice' | 'customer'>
  payment_refunded: With<PaymentRefundedContent, 'transaction' | 'customer'>
  refund_initiated: With<RefundInitiatedContent, 'transaction' | 'customer'>
  transaction_updated: TransactionUpdatedContent
  credit_note_created: CreditNoteCreatedContent
  credit_note_updated: CreditNoteUpdatedContent
}

export type BillerEventType = keyof Contents

/** The events of the subscription biller that the simulator emits. */
export type BillerEvent = {
  [Type in BillerEventType]: Omit<Event, 'event_type' | 'content'> & {
    object: 'event'
    event_type: Type
    content: Contents[Type]
  }
}[BillerEventType]

/** The type of an event with its content. */
export type EventContent = {
  [Type in BillerEventType]: { event_type: Type; content: Contents[Type] }
}[BillerEventType]

/** The cause of an event, in the provider's terms. */
export interface Actor {
  source: Event['source']
  /** The e-mail address of the person for `admin_console`, the name of the key for `api`; otherwise absent. */
  user?: string
  /** The header `chargebee-request-origin-user` of an API call, which the caller can choose. */
  originUser?: string
  /** True if the caller asked for no webhook. The event can be read and is never posted. */
  suppressesWebhooks?: boolean
}

/** An event with copies of the objects, which later changes do not affect. */
export function makeEvent(context: ObjectContext, content: EventContent, by: Actor): BillerEvent {
  return structuredClone({
    id: makeId('ev', context),
    occurred_at: secondsOf(context.nowMs),
    source: by.source,
    ...(by.user === undefined ? {} : { user: by.user }),
    ...(by.originUser === undefined ? {} : { origin_user: by.originUser }),
    object: 'event',
    api_version: 'v2',
    webhook_status: 'scheduled',
    ...content,
  })
}
