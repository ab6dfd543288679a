/** The state of a card processor's account; each change of it emits an event. */
import type Stripe from 'stripe'
import { createEventFeed, type EventFeed } from '../account/event-feed.ts'
import { createObjectHistory, type ObjectHistory } from '../account/object-history.ts'
import type { Chance } from '../chance.ts'
import { type EventRequest, makeEvent, type ProcessorEvent, type Told } from './events.ts'
import type { ObjectContext } from './object-context.ts'
import type { ProcessorSchedule } from './objects/schedule.ts'
import type { ProcessorSubscription } from './objects/subscription.ts'

/** The request that changed the account. */
export interface Caller {
  /** Header `Idempotency-Key`. The official library sends its own with every POST; null for a request without one. */
  idempotencyKey?: string | null
  /** The `Request-Id` of the answer; random by default. */
  requestId?: string
  /** Whether the processor acts by itself, so that the event has no request. */
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
  /** The request in the form that events have. All events of one request share it. */
  requestOf(caller?: Caller): EventRequest
  emit(told: Told, request: EventRequest): void
}

/** The state of an empty account. */
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
    emit: (told, request) => feed.emit(makeEvent(context(), told, request)),
  }
}
