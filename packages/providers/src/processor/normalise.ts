/** Normalises the card processor's events and objects. docs/decisions/processor.md documents the meaning as a table. */
import { ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { fieldAt, objectAt } from '../event-fields.ts'
import { helpful, type Meaning, type ObjectMeaning, UnixTime } from '../object-fields.ts'
import type { NormaliseEvent, NormaliseObject, ObjectOrigin } from '../sighting.ts'
import { meaningOfCharge } from './objects/charge.ts'
import type { ProcessorContext } from './objects/context.ts'
import { meaningOfDispute } from './objects/dispute.ts'
import { meaningOfRefund } from './objects/refund.ts'
import { meaningOfAbortedSchedule, meaningOfNewSchedule, meaningOfSchedule } from './objects/schedule.ts'
import { meaningOfSubscription } from './objects/subscription.ts'
import { accountIn, factsOfThin, hintOf, isThin, snapshotType } from './thin-event.ts'

const OBJECTS: ReadonlyMap<string, ObjectMeaning<ProcessorContext>> = new Map([
  ['refund', meaningOfRefund],
  ['charge', meaningOfCharge],
  ['subscription', meaningOfSubscription],
  ['subscription_schedule', meaningOfSchedule],
  ['dispute', meaningOfDispute],
])

/**
 * The events that are judged or recorded, each with the normaliser of its object. `isObjectKey` is true if the idempotency key of
 * the event's request belongs to the object. The key of an update belongs only to the update.
 */
export const EVENTS: ReadonlyMap<string, { meaning: ObjectMeaning<ProcessorContext>; isObjectKey: boolean }> = new Map([
  ['refund.created', { meaning: meaningOfRefund, isObjectKey: true }],
  ['refund.updated', { meaning: meaningOfRefund, isObjectKey: false }],
  ['refund.failed', { meaning: meaningOfRefund, isObjectKey: false }],
  // The older name of refund.updated. For some payment methods the processor sends both.
  ['charge.refund.updated', { meaning: meaningOfRefund, isObjectKey: false }],
  ['charge.refunded', { meaning: meaningOfCharge, isObjectKey: true }],
  ['customer.subscription.updated', { meaning: meaningOfSubscription, isObjectKey: true }],
  ['customer.subscription.deleted', { meaning: meaningOfSubscription, isObjectKey: true }],
  ['customer.subscription.paused', { meaning: meaningOfSubscription, isObjectKey: false }],
  ['customer.subscription.resumed', { meaning: meaningOfSubscription, isObjectKey: false }],
  ['subscription_schedule.created', { meaning: meaningOfNewSchedule, isObjectKey: true }],
  ['subscription_schedule.updated', { meaning: meaningOfSchedule, isObjectKey: true }],
  ['subscription_schedule.canceled', { meaning: meaningOfSchedule, isObjectKey: true }],
  ['subscription_schedule.released', { meaning: meaningOfSchedule, isObjectKey: false }],
  ['subscription_schedule.completed', { meaning: meaningOfSchedule, isObjectKey: false }],
  ['subscription_schedule.expiring', { meaning: meaningOfSchedule, isObjectKey: false }],
  ['subscription_schedule.aborted', { meaning: meaningOfAbortedSchedule, isObjectKey: false }],
  ['charge.dispute.created', { meaning: meaningOfDispute, isObjectKey: false }],
  ['charge.dispute.updated', { meaning: meaningOfDispute, isObjectKey: false }],
  ['charge.dispute.closed', { meaning: meaningOfDispute, isObjectKey: false }],
  ['charge.dispute.funds_withdrawn', { meaning: meaningOfDispute, isObjectKey: false }],
  ['charge.dispute.funds_reinstated', { meaning: meaningOfDispute, isObjectKey: false }],
])

// A pattern for the reason of `Text`.
const RequestText = z.string().regex(/^.{1,255}$/su)

/** The envelope of an event. In API versions before 2017-05-25 `request` is the id of the request. */
const Envelope = z.object({
  created: helpful(UnixTime),
  account: helpful(ProviderId),
  request: helpful(
    z.union([
      z.object({ id: helpful(RequestText), idempotency_key: helpful(RequestText) }),
      RequestText.transform(id => ({ id, idempotency_key: null })),
    ]),
  ),
})

function causedBy({ request }: Readonly<Record<string, unknown>>): ProcessorContext['by'] {
  if (request === null) return 'itself'
  const id = typeof request === 'string' ? request : fieldAt(request, 'id')
  if (id === null) return 'itself'
  return typeof id === 'string' ? 'request' : null
}

/** Normalises an event of the card processor. A thin event is a hint. */
export const normaliseEvent: NormaliseEvent = ({ projectId, eventId, eventType }, event) => {
  if (!isThin(event)) return meaningOfEvent(projectId, eventType, event)
  return EVENTS.has(snapshotType(eventType)) ? hintOf(event, eventId, eventType) : notJudged(eventType)
}

function notJudged(eventType: string): Meaning {
  return { kind: 'ignored', reason: `Events of type ${eventType} are not judged` }
}

function meaningOfEvent(projectId: string, eventType: string, event: Readonly<Record<string, unknown>>): Meaning {
  const known = EVENTS.get(eventType)
  if (known === undefined) return notJudged(eventType)
  const object = objectAt(event, 'data', 'object')
  if (object === undefined) return { kind: 'malformed', reason: 'data.object: There is no object' }
  const envelope = Envelope.parse(event)
  const context: ProcessorContext = {
    projectId,
    site: null,
    shownAt: envelope.created,
    changedAt: envelope.created,
    idempotencyKey: known.isObjectKey ? (envelope.request?.idempotency_key ?? null) : null,
    requestId: known.isObjectKey ? (envelope.request?.id ?? null) : null,
    by: causedBy(event),
    livemode: typeof event.livemode === 'boolean' ? event.livemode : null,
    account: envelope.account,
    previous: objectAt(event, 'data', 'previous_attributes') ?? null,
  }
  return known.meaning(context, object)
}

/** The context of an object that was read. */
const OF_NO_EVENT = {
  changedAt: null,
  idempotencyKey: null,
  requestId: null,
  by: null,
  livemode: null,
  account: null,
  previous: null,
} as const

/** Normalises an object of the card processor. */
export const normaliseObject: NormaliseObject = (origin, type, object) => {
  // A sweep returns the events of schedules, because the object of a schedule has neither the time nor the request of its end.
  if (type !== 'event') return meaningOfObject(origin, type, object)
  if (!isThin(object)) return meaningOfEvent(origin.projectId, String(object.type), object)
  // An object that was read with its thin event.
  const read = objectAt(object, 'data', 'object') ?? {}
  return meaningOfObject(origin, String(read.object), read, factsOfThin(object))
}

function meaningOfObject(
  { projectId, readAt, account }: ObjectOrigin,
  type: string,
  object: Readonly<Record<string, unknown>>,
  facts: Partial<ProcessorContext> = {},
): Meaning {
  const meaning = OBJECTS.get(type)
  if (meaning === undefined) return { kind: 'ignored', reason: `Objects of type ${type} are not judged` }
  const read = { projectId, site: null, shownAt: readAt, ...OF_NO_EVENT, account: accountIn(account) }
  return meaning({ ...read, ...facts }, object)
}
