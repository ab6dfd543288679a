import type Stripe from 'stripe'
import { API_VERSION, type ObjectContext } from './object-context.ts'
import type { ProcessorSchedule } from './objects/schedule.ts'
import type { ProcessorSubscription } from './objects/subscription.ts'

/** The cause of an event; `id` is null if the processor acted by itself. */
export interface EventRequest {
  id: string | null
  idempotency_key: string | null
}

interface Subjects {
  'charge.succeeded': Stripe.Charge
  'charge.refunded': Stripe.Charge
  'charge.refund.updated': Stripe.Refund
  'refund.created': Stripe.Refund
  'refund.updated': Stripe.Refund
  'refund.failed': Stripe.Refund
  'charge.dispute.created': Stripe.Dispute
  'charge.dispute.closed': Stripe.Dispute
  'customer.subscription.created': ProcessorSubscription
  'customer.subscription.updated': ProcessorSubscription
  'customer.subscription.deleted': ProcessorSubscription
  'customer.subscription.paused': ProcessorSubscription
  'customer.subscription.resumed': ProcessorSubscription
  'subscription_schedule.created': ProcessorSchedule
  'subscription_schedule.updated': ProcessorSchedule
  'subscription_schedule.released': ProcessorSchedule
  'subscription_schedule.canceled': ProcessorSchedule
  'subscription_schedule.aborted': ProcessorSchedule
  'subscription_schedule.completed': ProcessorSchedule
}

export type ProcessorEventType = keyof Subjects & Stripe.Event['type']

/** The events of the card processor that the simulator emits. */
export type ProcessorEvent = {
  [Type in ProcessorEventType]: Omit<Stripe.Event, 'type' | 'data'> & {
    type: Type
    data: { object: Subjects[Type]; previous_attributes?: object }
  }
}[ProcessorEventType]

/** The type of an event with its object and, for a change, the previous values. */
export type EventContent = {
  [Type in ProcessorEventType]: { type: Type; object: Subjects[Type]; previous?: object }
}[ProcessorEventType]

/** An event with a copy of the object, which later changes do not affect. */
export function makeEvent(
  { chance, created, livemode }: ObjectContext,
  content: EventContent,
  request: EventRequest,
): ProcessorEvent {
  const { type, object, previous } = content
  const event = {
    id: `evt_3${chance.text(23)}`,
    object: 'event',
    api_version: API_VERSION,
    created,
    data: structuredClone({ object, ...(previous === undefined ? {} : { previous_attributes: previous }) }),
    livemode,
    pending_webhooks: 1,
    request: { ...request },
    type,
  }
  // Type and object are from one member of EventContent, which the compiler cannot see after destructuring.
  return event as ProcessorEvent
}

/** The values of `before` that differ in `after`, for `data.previous_attributes`. A new field has the previous value null. */
export function previousAttributes(before: object, after: object): Record<string, unknown> {
  const changed: Record<string, unknown> = {}
  for (const [name, now] of Object.entries(after)) {
    const was: unknown = Reflect.get(before, name) ?? null
    if (JSON.stringify(was) === JSON.stringify(now)) continue
    changed[name] = isPlain(was) && isPlain(now) ? previousAttributes(was, now) : was
  }
  return changed
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
