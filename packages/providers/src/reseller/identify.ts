import { fieldAt, firstId, isUsableWord } from '../event-fields.ts'
import type { Identification } from '../provider.ts'

/** Reads the envelope `{event_id, event_type, data}`. */
export function identify(event: Readonly<Record<string, unknown>>): Identification {
  const eventId = fieldAt(event, 'event_id')
  if (!isUsableWord(eventId)) return { kind: 'malformed', reason: 'id_unusable' }
  const eventType = fieldAt(event, 'event_type')
  if (!isUsableWord(eventType)) return { kind: 'malformed', reason: 'type_unusable' }
  return { kind: 'identified', eventId, eventType, subject: subjectOf(eventType, fieldAt(event, 'data')) }
}

/**
 * The id of the payment or subscription. The type of the event gives the type of `data`: `subscription.canceled` has a
 * subscription.
 */
function subjectOf(eventType: string, data: unknown): string | null {
  const own = fieldAt(data, 'id')
  if (eventType.startsWith('subscription.') || eventType.startsWith('transaction.')) return firstId(own)
  const adjustment = eventType.startsWith('adjustment.') ? own : null
  return firstId(fieldAt(data, 'transaction_id'), fieldAt(data, 'subscription_id'), adjustment)
}
