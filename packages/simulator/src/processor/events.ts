import type Stripe from 'stripe'
import { API_VERSION, type Making } from './objects.ts'

/** What caused an event: `id` is null when the processor acted by itself. */
export interface EventRequest {
  id: string | null
  idempotency_key: string | null
}

/** One event about `object` as it stands now. Later changes of the account do not reach into it. */
export function makeEvent(
  { chance, created, livemode }: Making,
  parts: { type: Stripe.Event['type']; object: object; request: EventRequest; previous?: object },
): Stripe.Event {
  const event: Omit<Stripe.Event, 'data' | 'type'> & { type: string; data: { object: object } } = {
    id: `evt_3${chance.text(23)}`,
    object: 'event',
    api_version: API_VERSION,
    created,
    data: structuredClone({
      object: parts.object,
      ...(parts.previous === undefined ? {} : { previous_attributes: parts.previous }),
    }),
    livemode,
    pending_webhooks: 1,
    request: { ...parts.request },
    type: parts.type,
  }
  return event as Stripe.Event
}

/** The values of `before` that `after` changed, as `data.previous_attributes` shows them; what is new was null. */
export function previousAttributes<T extends object>(before: T, after: T): Partial<T> {
  const changed: Record<string, unknown> = {}
  for (const name of Object.keys(after) as (keyof T & string)[]) {
    if (JSON.stringify(before[name]) !== JSON.stringify(after[name])) changed[name] = before[name] ?? null
  }
  return changed as Partial<T>
}
