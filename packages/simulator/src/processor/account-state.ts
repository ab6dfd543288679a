/** The state of a card processor's account. Each change of the state emits an event. */
import type Stripe from 'stripe'
import { createEventFeed, type EventFeed } from '../account/event-feed.ts'
import { createObjectHistory, type ObjectHistory } from '../account/object-history.ts'
import type { Chance } from '../chance.ts'
import { type EventContent, type EventRequest, makeEvent, type ProcessorEvent } from './events.ts'
import type { ObjectContext } from './object-context.ts'
import type { ProcessorSchedule } from './objects/schedule.ts'
import type { ProcessorSubscription } from './objects/subscription.ts'

/** The request that changed the account. */
export interface Caller {
  /**
   * The header `Idempotency-Key`. By default a random key, because the official library sends one with every POST; null for none.
   */
  idempotencyKey?: string | null
  /** The `Request-Id` of the answer; random by default. */
  requestId?: string
  /** True if the processor itself makes the change, so that the event has no request. */
  automatic?: boolean
}

export interface AccountState {
  context(): ObjectContext
  readonly customers: ObjectHistory<Stripe.Customer>
  readonly paymentIntents: ObjectHistory<Stripe.PaymentIntent>
  readonly charges: ObjectHistory<Stripe.Charge>
  readonly refunds: ObjectHistory<Stripe.Refund>
  readonly disputes: ObjectHistory<Stripe.Dispute>
  readonly subscriptions: ObjectHistory<ProcessorSubscription>
  readonly schedules: ObjectHistory<ProcessorSchedule>
  readonly feed: EventFeed<ProcessorEvent>
  /** The request as it appears in events. All events of a request have the same value. */
  requestOf(caller?: Caller): EventRequest
  emit(content: EventContent, request: EventRequest): void
}

/** Creates the state of an empty account. */
export function createAccountState(now: () => number, chance: Chance, livemode: boolean): AccountState {
  const context = () => ({ chance, created: Math.floor(now() / 1000), livemode })
  const feed = createEventFeed<ProcessorEvent>(now)
  return {
    context,
    customers: createObjectHistory<Stripe.Customer>(now),
    paymentIntents: createObjectHistory<Stripe.PaymentIntent>(now),
    charges: createObjectHistory<Stripe.Charge>(now),
    refunds: createObjectHistory<Stripe.Refund>(now),
    disputes: createObjectHistory<Stripe.Dispute>(now),
    subscriptions: createObjectHistory<ProcessorSubscription>(now),
    schedules: createObjectHistory<ProcessorSchedule>(now),
    feed,
    requestOf({ idempotencyKey = null, requestId, automatic = false } = {}) {
      if (automatic) return { id: null, idempotency_key: null }
      return { id: requestId ?? `req_${chance.text(14)}`, idempotency_key: idempotencyKey }
    },
    emit: (content, request) => feed.emit(makeEvent(context(), content, request)),
  }
}
