import type Stripe from 'stripe'
import type { ProcessorEvent } from './events.ts'

/** An event as the processor sends it to a destination for thin events: it names its object and does not contain it. */
export type ThinEvent = Omit<
  Stripe.V2.Core.Events.UnknownEventNotification,
  'context' | 'fetchEvent' | 'fetchRelatedObject'
>

/** The thin event that is sent beside or instead of an event, with an id of its own. */
export function thinEventOf({ id, type, created, livemode, request, data: { object } }: ProcessorEvent): ThinEvent {
  const { id: requestId, idempotency_key } = request ?? { id: null, idempotency_key: null }
  const reason = { type: 'request', request: { id: requestId ?? '', idempotency_key: idempotency_key ?? '' } }
  return {
    id: thinIdOf(id),
    object: 'v2.core.event',
    type: `v1.${type}`,
    created: new Date(created * 1000).toISOString(),
    livemode,
    ...(requestId === null ? {} : { reason }),
    related_object: { id: object.id, type: object.object, url: `/v1/${object.object}s/${object.id}` },
    snapshot_event: id,
  }
}

export function thinIdOf(eventId: string): string {
  return eventId.replace(/^evt_3/, 'evt_6')
}
