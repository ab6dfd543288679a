import { z } from 'zod'
import { objectAt } from '../../src/event-fields.ts'
import {
  CurrencyCode,
  helpful,
  MinorUnits,
  nameObject,
  type ObjectMeaning,
  reading,
  UnixTime,
} from '../../src/object-fields.ts'
import type { NormaliseEvent, NormaliseObject } from '../../src/observation.ts'
import { KIND } from './kind.ts'

/** Strict is what decides: an object without it is parked, and seen. `helpful` is what may be odd without hiding a refund. */
const Return = z.object({
  id: z.string().min(1),
  payment: helpful(z.string().min(1)),
  cents: MinorUnits,
  currency: CurrencyCode,
  made: UnixTime,
  paid: helpful(z.boolean()),
})

/** The one place that says what a return is, for events, re-reads, sweeps and the baseline alike. */
const meaningOfReturn: ObjectMeaning = (telling, object) =>
  reading('return', Return, object, given => ({
    kind: 'observed',
    observations: [
      {
        kind: 'action',
        action: 'refund',
        ...nameObject(telling, KIND, 'return', given.id, [given.payment]),
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

const EVENTS: ReadonlyMap<string, ObjectMeaning> = new Map([
  ['return.made', meaningOfReturn],
  ['return.paid', meaningOfReturn],
])

export const normaliseEvent: NormaliseEvent = ({ projectId, eventType }, event) => {
  const meaning = EVENTS.get(eventType)
  if (meaning === undefined) return { kind: 'ignored', reason: `Events of type ${eventType} are not judged` }
  const object = objectAt(event, 'return')
  if (object === undefined) return { kind: 'malformed', reason: 'return: There is no object' }
  return meaning({ projectId, site: null, toldAt: null }, object)
}

export const normaliseObject: NormaliseObject = ({ projectId, readAt }, type, object) =>
  type === 'return'
    ? meaningOfReturn({ projectId, site: null, toldAt: readAt }, object)
    : { kind: 'ignored', reason: `Objects of type ${type} are not judged` }
