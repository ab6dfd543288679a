/** What a card processor's account keeps, and how each change of it becomes an event. */
import type Stripe from 'stripe'
import { createEventFeed, type EventFeed } from '../account/event-feed.ts'
import { createShelf, type Shelf } from '../account/object-history.ts'
import type { Chance } from '../chance.ts'
import { type EventRequest, makeEvent, type ProcessorEvent, type Told } from './events.ts'
import type { Making } from './object-context.ts'
import type { ProcessorSchedule } from './objects/schedule.ts'
import type { ProcessorSubscription } from './objects/subscription.ts'

/** How something reached the account. */
export interface Caller {
  /** Header `Idempotency-Key`. The official library sends one of its own with every POST; null is a bare request. */
  idempotencyKey?: string | null
  /** The `Request-Id` that the caller was answered with; made up when left out. */
  requestId?: string
  /** The processor acts by itself, so that the event names no request. */
  automatic?: boolean
}

export interface Books {
  making(): Making
  readonly customers: Shelf<Stripe.Customer>
  readonly paymentIntents: Shelf<Stripe.PaymentIntent>
  readonly charges: Shelf<Stripe.Charge>
  readonly refunds: Shelf<Stripe.Refund>
  readonly disputes: Shelf<Stripe.Dispute>
  readonly subscriptions: Shelf<ProcessorSubscription>
  readonly schedules: Shelf<ProcessorSchedule>
  readonly feed: EventFeed<ProcessorEvent>
  /** The request as its events name it. Events of one request share it. */
  requestOf(caller?: Caller): EventRequest
  emit(told: Told, request: EventRequest): void
}

/** Empty books. */
export function openBooks(now: () => number, chance: Chance, livemode: boolean): Books {
  const making = () => ({ chance, created: Math.floor(now() / 1000), livemode })
  const feed = createEventFeed<ProcessorEvent>(now)
  return {
    making,
    customers: createShelf<Stripe.Customer>(now),
    paymentIntents: createShelf<Stripe.PaymentIntent>(now),
    charges: createShelf<Stripe.Charge>(now),
    refunds: createShelf<Stripe.Refund>(now),
    disputes: createShelf<Stripe.Dispute>(now),
    subscriptions: createShelf<ProcessorSubscription>(now),
    schedules: createShelf<ProcessorSchedule>(now),
    feed,
    requestOf({ idempotencyKey = null, requestId, automatic = false } = {}) {
      if (automatic) return { id: null, idempotency_key: null }
      return { id: requestId ?? `req_${chance.text(14)}`, idempotency_key: idempotencyKey }
    },
    emit: (told, request) => feed.emit(makeEvent(making(), told, request)),
  }
}
