import type {
  IAdjustmentNotificationResponse,
  IEventName,
  IEventsResponse,
  ISubscriptionCreatedNotificationResponse,
  ISubscriptionNotificationResponse,
  ITransactionNotificationResponse,
} from '@paddle/paddle-node-sdk'
import { type Making, makeId, preciseTime } from './object-context.ts'

type EventOf<Type extends IEventName, Payload> = IEventsResponse<Payload> & { event_type: Type }

/** The events of the reseller that the stand-in makes, each with the payload that the official types give it. */
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

type Told = ResellerEvent extends infer Event
  ? Event extends ResellerEvent
    ? Pick<Event, 'event_type' | 'data'>
    : never
  : never

/** One event about an object as it stands now. Later changes of the account do not reach into it. */
export function makeEvent(making: Making, told: Told): ResellerEvent {
  return structuredClone({
    event_id: makeId('evt', making),
    ...told,
    occurred_at: preciseTime(making),
    notification_id: makeId('ntf', making),
  })
}
