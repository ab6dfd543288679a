import { fieldAt, firstId, isUsableWord } from '../event-fields.ts'
import type { Identification } from '../provider.ts'
import { isThin, relatedObject } from './thin-event.ts'

/** The object types that are payments. All other objects contain the id of their payment. */
const PAYMENTS = new Set<unknown>(['payment_intent', 'charge'])

/** Reads the envelope `{id, object: "event", type, data: {object}}`, or that of a thin event. */
export function identify(event: Readonly<Record<string, unknown>>): Identification {
  if (fieldAt(event, 'object') !== 'event' && !isThin(event)) return { kind: 'malformed', reason: 'not_an_event' }
  const eventId = fieldAt(event, 'id')
  if (!isUsableWord(eventId)) return { kind: 'malformed', reason: 'id_unusable' }
  const eventType = fieldAt(event, 'type')
  if (!isUsableWord(eventType)) return { kind: 'malformed', reason: 'type_unusable' }
  const object = isThin(event) ? relatedObject(event) : fieldAt(event, 'data', 'object')
  return { kind: 'identified', eventId, eventType, subject: subjectOf(object) }
}

/**
 * The id of the payment or subscription. The payment intent is preferred, because a refund and its charge both have its id, so
 * their events share a partition.
 */
function subjectOf(object: unknown): string | null {
  const own = fieldAt(object, 'id')
  const what = fieldAt(object, 'object')
  if (what === 'subscription') return firstId(own)
  return firstId(
    fieldAt(object, 'payment_intent'),
    fieldAt(object, 'charge'),
    PAYMENTS.has(what) ? own : null,
    fieldAt(object, 'subscription'),
    // The subscription from which a schedule was released.
    fieldAt(object, 'released_subscription'),
    // A refund without payment intent and charge is its own subject, e.g. a refund of a customer's cash balance.
    what === 'refund' ? own : null,
  )
}
