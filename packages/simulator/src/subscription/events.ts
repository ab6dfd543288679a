import type {
  CreditNoteCreatedContent,
  CreditNoteUpdatedContent,
  Event,
  InvoiceGeneratedContent,
  PaymentFailedContent,
  PaymentRefundedContent,
  PaymentSucceededContent,
  RefundInitiatedContent,
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
import { type Making, makeId, secondsOf } from './object-context.ts'

/** Members of the official content that are always there; the others come only where there is such an object. */
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

/** The events of the subscription biller that the stand-in makes. */
export type BillerEvent = {
  [Type in BillerEventType]: Omit<Event, 'event_type' | 'content'> & {
    object: 'event'
    event_type: Type
    content: Contents[Type]
  }
}[BillerEventType]

/** An event's type with its content. */
export type Told = {
  [Type in BillerEventType]: { event_type: Type; content: Contents[Type] }
}[BillerEventType]

/** Who caused an event, as the provider names them. */
export interface Actor {
  source: Event['source']
  /** The operator's e-mail address with `admin_console`, the name of the key with `api`; nobody for the rest. */
  user?: string
  /** What a caller of the API claims in header `chargebee-request-origin-user`. */
  originUser?: string
  /** A caller of the API may ask that nobody is told: the event can be read and is never posted. */
  suppressesWebhooks?: boolean
}

/** One event about objects as they stand now. Later changes of the site do not reach into it. */
export function makeEvent(making: Making, told: Told, by: Actor): BillerEvent {
  return structuredClone({
    id: makeId('ev', making),
    occurred_at: secondsOf(making.nowMs),
    source: by.source,
    ...(by.user === undefined ? {} : { user: by.user }),
    ...(by.originUser === undefined ? {} : { origin_user: by.originUser }),
    object: 'event',
    api_version: 'v2',
    webhook_status: 'scheduled',
    ...told,
  })
}
