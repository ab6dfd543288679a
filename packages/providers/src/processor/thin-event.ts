/**
 * The processor's thin events, which contain no object: `{id, object: "v2.core.event", type: "v1.refund.created", created, livemode,
 * context?, reason?, related_object: {id, type, url}}`, by the types of stripe 23.1.0. Each is a hint to read its object. The event
 * that creates a refund or an end is read too, because only it names the request.
 */
import { isProviderId, type Origin, type ReadObject, type ReadTarget } from '@backstop/contracts'
import type { DetailParts } from '../api/read-details.ts'
import { textAt } from '../details.ts'
import { fieldAt, isUsableWord, objectAt } from '../event-fields.ts'
import type { Normalised } from '../sighting.ts'
import type { ProcessorContext } from './objects/context.ts'

type Fields = Readonly<Record<string, unknown>>

/** The prefix of the types of thin events about objects of API v1. */
const V1 = 'v1.'

export function isThin(event: Fields): boolean {
  return fieldAt(event, 'object') === 'v2.core.event'
}

/** The type of the thin event that is sent beside or instead of an event. */
export function thinType(eventType: string): string {
  return `${V1}${eventType}`
}

/** The type of the event that has the object; the type itself if there is none. */
export function snapshotType(thinType: string): string {
  return thinType.startsWith(V1) ? thinType.slice(V1.length) : thinType
}

/** The object of a thin event, with the two fields that every object of the processor has. */
export function relatedObject(event: Fields): Fields {
  return { id: fieldAt(event, 'related_object', 'id'), object: fieldAt(event, 'related_object', 'type') }
}

/** The objects to read, by the type of the related object. */
const TARGETS: ReadonlyMap<unknown, ReadTarget['type']> = new Map([
  ['refund', 'refund'],
  ['charge', 'refunds_of_payment'],
  ['subscription', 'subscription'],
  ['subscription_schedule', 'subscription_schedule'],
])

/** The events whose request made the object or its end. The request of any other event may have changed something else. */
const CREATIONS = new Set(['refund.created', 'customer.subscription.deleted'])

/** Normalises a thin event of a type that is judged. */
export function hintOf(event: Fields, eventId: string, eventType: string): Normalised {
  const { id, object } = relatedObject(event)
  if (!isProviderId(id)) return { kind: 'malformed', reason: 'related_object.id: There is no usable id' }
  const context = fieldAt(event, 'context') ?? null
  if (context !== null && !isUsableWord(context)) return { kind: 'malformed', reason: 'context: It is no account' }
  const type = TARGETS.get(object)
  // A dispute has one state of many, and the sweep reads it from the list of events, which needs no further right.
  if (type === undefined) return { kind: 'ignored', reason: `Only a sweep reads the object of ${eventType}` }
  const of = context === null ? {} : { account: context }
  const events: ReadTarget[] = CREATIONS.has(snapshotType(eventType)) ? [{ type: 'event', id: eventId, ...of }] : []
  return { kind: 'hint', targets: [{ type, id, ...of }, ...events] }
}

/** Reads of thin events. Without the event its object is used all the same. */
export const THIN_EVENTS: DetailParts = {
  requestsPerMinute: 300,
  isDetail: ({ type }) => type === 'event',
  addTo: (objects, events) =>
    objects.map(object => {
      const event = events.find(({ body }) => fieldAt(body, 'related_object', 'id') === object.body.id)
      return event === undefined ? object : withObject(event, object)
    }),
}

/** A thin event that was read, with its object where other events have it. */
function withObject({ type, body }: ReadObject, object: ReadObject): ReadObject {
  return { ...object, type, body: { ...body, data: { object: object.body } } }
}

/** The connected account in the context of a thin event, which is a path of accounts. */
export function accountIn(context: string | undefined): string | null {
  return context?.split('/').at(-1) ?? null
}

type RequestFacts = Pick<ProcessorContext, 'idempotencyKey' | 'requestId' | 'by' | 'livemode' | 'client'>

/**
 * The facts of a thin event that was read. The processor documents `client` (stripe-java, Event.Reason.Request.Client) and not when it sends
 * it: the id of the key, the user of the dashboard, or an action of the processor itself.
 */
export function factsOfThin(event: Fields): RequestFacts {
  const request = objectAt(event, 'reason', 'request')
  const requestId = textAt(request, 'id')
  return {
    idempotencyKey: textAt(request, 'idempotency_key'),
    requestId,
    by: requestId === null ? null : 'request',
    livemode: typeof event.livemode === 'boolean' ? event.livemode : null,
    client: originOfClient(objectAt(request, 'client')),
  }
}

function originOfClient(client: Fields | undefined): Partial<Origin> {
  if (objectAt(client, 'dashboard_user')) {
    return { channel: 'dashboard', user: textAt(client, 'dashboard_user', 'email') }
  }
  return objectAt(client, 'stripe_action') ? { channel: 'automatic' } : { key_name: textAt(client, 'api_key', 'id') }
}
