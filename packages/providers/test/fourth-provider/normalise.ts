import { z } from 'zod'
import { objectAt } from '../../src/event-fields.ts'
import {
  CurrencyCode,
  helpful,
  type Meaning,
  MinorUnits,
  nameObject,
  type ObjectMeaning,
  reading,
  type SightingContext,
  Text,
  UnixTime,
} from '../../src/object-fields.ts'
import type { NormaliseEvent, NormaliseObject } from '../../src/sighting.ts'
import { KIND } from './kind.ts'
import { meaningOfPlan } from './plan.ts'

/** Fields that decide are strict: an object without them is dead-lettered. A `helpful` field may be malformed without hiding a refund. */
export const Return = z.object({
  id: Text,
  payment: helpful(Text),
  cents: MinorUnits,
  currency: CurrencyCode,
  made: UnixTime,
  paid: helpful(z.boolean()),
})

/** What a return means, for events, re-reads, sweeps and the baseline. */
const meaningOfReturn: ObjectMeaning = (context, object) =>
  reading('return', Return, object, given => ({
    kind: 'observed',
    sightings: [
      {
        kind: 'action',
        action: 'refund',
        ...nameObject(context, KIND, 'return', given.id, [given.payment]),
        providerRef: given.id,
        gatewayRefs: [],
        amount: given.cents,
        currency: given.currency,
        state: given.paid === true ? 'succeeded' : 'pending',
        stateVersion: null,
        createdAt: given.made,
        idempotencyKey: null,
      },
    ],
  }))

const OBJECTS: ReadonlyMap<string, ObjectMeaning> = new Map([
  ['return', meaningOfReturn],
  ['plan', meaningOfPlan],
])

/** The type of the object that an event contains, by the type of the event. */
const EVENTS: ReadonlyMap<string, string> = new Map([
  ['return.made', 'return'],
  ['return.paid', 'return'],
  ['plan.changed', 'plan'],
])

export const normaliseEvent: NormaliseEvent = ({ projectId, eventType }, event) => {
  const type = EVENTS.get(eventType)
  if (type === undefined) return { kind: 'ignored', reason: `Events of type ${eventType} are not judged` }
  const object = objectAt(event, type)
  if (object === undefined) return { kind: 'malformed', reason: `${type}: There is no object` }
  return normaliseObjectOf(type, { projectId, site: null, shownAt: null }, object)
}

export const normaliseObject: NormaliseObject = ({ projectId, readAt }, type, object) =>
  normaliseObjectOf(type, { projectId, site: null, shownAt: readAt }, object)

function normaliseObjectOf(type: string, context: SightingContext, object: Readonly<Record<string, unknown>>): Meaning {
  const meaning = OBJECTS.get(type)
  return meaning === undefined
    ? { kind: 'ignored', reason: `Objects of type ${type} are not judged` }
    : meaning(context, object)
}
