/** The state of a card processor's account. Each change of the state emits an event. */
import type Stripe from 'stripe'
import { createEventFeed } from '../account/event-feed.ts'
import { createObjectHistory } from '../account/object-history.ts'
import { recordsAsOf } from '../account/records.ts'
import type { Chance } from '../chance.ts'
import { type EventContent, type EventRequest, makeEvent, type ProcessorEvent } from './events.ts'
import type { ObjectContext } from './object-context.ts'
import type { ProcessorSchedule } from './objects/schedule.ts'
import type { ProcessorSubscription } from './objects/subscription.ts'
import { noSuch } from './refusal.ts'

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

export type AccountState = ReturnType<typeof createAccountState>
/** The account at one time. */
export type ProcessorRecords = ReturnType<AccountState['asOf']>

/** Creates the state of an empty account. */
export function createAccountState(now: () => number, chance: Chance, livemode: boolean) {
  const context = (): ObjectContext => ({ chance, created: Math.floor(now() / 1000), livemode })
  const history = <T extends { id: string }>(kind: string, param?: string) =>
    createObjectHistory<T>(now, id => noSuch(kind, id, param))
  const objects = {
    customers: history<Stripe.Customer>('customer'),
    paymentIntents: history<Stripe.PaymentIntent>('payment_intent'),
    charges: history<Stripe.Charge>('charge'),
    refunds: history<Stripe.Refund>('refund', 'refund'),
    disputes: history<Stripe.Dispute>('dispute'),
    subscriptions: history<ProcessorSubscription>('subscription'),
    schedules: history<ProcessorSchedule>('subscription schedule'),
  }
  const feed = createEventFeed<ProcessorEvent>(now)
  return {
    ...objects,
    feed,
    context,
    asOf: (ms: number) => recordsAsOf(objects, feed, ms),
    /** The request as it appears in events. All events of a request have the same value. */
    requestOf({ idempotencyKey = null, requestId, automatic = false }: Caller = {}): EventRequest {
      if (automatic) return { id: null, idempotency_key: null }
      return { id: requestId ?? `req_${chance.text(14)}`, idempotency_key: idempotencyKey }
    },
    emit: (content: EventContent, request: EventRequest) => feed.emit(makeEvent(context(), content, request)),
  }
}
