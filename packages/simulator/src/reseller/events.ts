import type {
  IAdjustmentNotificationResponse,
  IEventName,
  IEventsResponse,
  ISubscriptionCreatedNotificationResponse,
  ISubscriptionNotificationResponse,
  ITransactionNotificationResponse,
} from '@paddle/paddle-node-sdk'
import { makeId, type ObjectContext, preciseTime } from './object-context.ts'

type EventOf<Type extends IEventName, Payload> = IEventsResponse<Payload> & { event_type: Type }

/** The events of the reseller that the simulator emits, with the payloads of the official types. */
export type ResellerEvent =
  | EventOf<'adjustment.created' | 'adjustment.updated', IAdjustmentNotificationResponse>
  | EventOf<'subscription.created', ISubscriptionCreatedNotificationResponse>
  | EventOf<
      | 'subscription.activated'
      | 'subscription.updated'
      | 'subscription.canceled'
      | 'subscription.paused'
      | 'subscription.resumed'
      | 'subscription.past_due',
      ISubscriptionNotificationResponse
    >
  | EventOf<'transaction.completed' | 'transaction.payment_failed', ITransactionNotificationResponse>

type EventContent = ResellerEvent extends infer Event
  ? Event extends ResellerEvent
    ? Pick<Event, 'event_type' | 'data'>
    : never
  : never

/** An event with a copy of the object, which later changes do not affect. */
export function makeEvent(context: ObjectContext, content: EventContent): ResellerEvent {
  return structuredClone({
    event_id: makeId('evt', context),
    ...content,
    occurred_at: preciseTime(context),
    notification_id: makeId('ntf', context),
  })
}
