/** The events of the three providers, with their ids, types and the events to subscribe to. */
import type { ProcessorEvent } from '../processor/events.ts'
import type { ResellerEvent } from '../reseller/events.ts'
import type { BillerEvent } from '../subscription/events.ts'

export type ProviderKind = 'processor' | 'reseller' | 'subscription'

export interface ProviderEvents {
  processor: ProcessorEvent
  reseller: ResellerEvent
  subscription: BillerEvent
}

/** The events that docs/decisions/<kind>.md tells users to subscribe to. */
export const SUBSCRIBED_EVENTS: Readonly<Record<ProviderKind, readonly string[]>> = {
  processor: [
    'refund.created',
    'refund.updated',
    'charge.refunded',
    'customer.subscription.updated',
    'customer.subscription.deleted',
  ],
  reseller: [
    'adjustment.created',
    'adjustment.updated',
    'subscription.updated',
    'subscription.canceled',
    'subscription.paused',
    'subscription.resumed',
  ],
  subscription: [
    'credit_note_created',
    'payment_refunded',
    'subscription_cancellation_scheduled',
    'subscription_cancelled',
    'subscription_scheduled_cancellation_removed',
    'subscription_paused',
    'subscription_pause_scheduled',
    'subscription_resumed',
    'subscription_scheduled_pause_removed',
    'subscription_changed',
  ],
}

/** An event's id and type, from the provider's own fields. */
export function nameOf(event: ProviderEvents[ProviderKind]): { id: string; type: string } {
  if ('event_id' in event) return { id: event.event_id, type: event.event_type }
  return { id: event.id, type: 'event_type' in event ? event.event_type : event.type }
}

/**
 * True if a provider treats an answer as accepted and does not retry: any 2xx at the processor, only 200 at reseller and biller.
 */
export function isAccepted(kind: ProviderKind, status: number): boolean {
  return kind === 'processor' ? status >= 200 && status < 300 : status === 200
}
