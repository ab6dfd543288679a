/** Normalises the reseller's events and objects. docs/decisions/reseller.md documents the meaning as a table. */
import { fieldAt, objectAt } from '../event-fields.ts'
import { helpful, type ObjectMeaning, TextTime } from '../object-fields.ts'
import type { NormaliseEvent, NormaliseObject } from '../sighting.ts'
import { meaningOfAdjustment } from './objects/adjustment.ts'
import type { ResellerContext } from './objects/details.ts'
import { meaningOfSubscription } from './objects/subscription.ts'

const OBJECTS: ReadonlyMap<string, ObjectMeaning<ResellerContext>> = new Map([
  ['adjustment', meaningOfAdjustment],
  ['subscription', meaningOfSubscription],
])

/**
 * The normaliser of the object that each type of event carries. Every event carries the whole object in its present state,
 * so the type of the event decides nothing else.
 */
export const EVENTS: ReadonlyMap<string, ObjectMeaning<ResellerContext>> = new Map([
  ['adjustment.created', meaningOfAdjustment],
  ['adjustment.updated', meaningOfAdjustment],
  ['subscription.updated', meaningOfSubscription],
  ['subscription.canceled', meaningOfSubscription],
  ['subscription.paused', meaningOfSubscription],
  ['subscription.resumed', meaningOfSubscription],
  // Users need not subscribe to it. If it is sent, it shows that failed collection and not a request ended a subscription.
  ['subscription.past_due', meaningOfSubscription],
])

const OccurredAt = helpful(TextTime)

/** Normalises an event of the reseller. */
export const normaliseEvent: NormaliseEvent = (origin, event) => {
  const meaning = EVENTS.get(origin.eventType)
  if (meaning === undefined) return { kind: 'ignored', reason: `Events of type ${origin.eventType} are not judged` }
  const object = objectAt(event, 'data')
  if (object === undefined) return { kind: 'malformed', reason: 'data: There is no object' }
  const shownAt = OccurredAt.parse(fieldAt(event, 'occurred_at'))
  return meaning({ projectId: origin.projectId, site: null, shownAt, mode: null }, object)
}

/** Normalises an object of the reseller. */
export const normaliseObject: NormaliseObject = (origin, type, object) => {
  const meaning = OBJECTS.get(type)
  if (meaning === undefined) return { kind: 'ignored', reason: `Objects of type ${type} are not judged` }
  return meaning({ projectId: origin.projectId, site: null, shownAt: origin.readAt, mode: origin.mode ?? null }, object)
}
