import { fieldAt, firstId, isUsableWord } from '../../src/event-fields.ts'
import type { Identification } from '../../src/provider.ts'

/** The envelope is `{id, event, at}` with the object under its type: `return: {id, payment}` or `plan: {id}`. */
export function identify(event: Readonly<Record<string, unknown>>): Identification {
  const eventId = fieldAt(event, 'id')
  if (!isUsableWord(eventId)) return { kind: 'malformed', reason: 'id_unusable' }
  const eventType = fieldAt(event, 'event')
  if (!isUsableWord(eventType)) return { kind: 'malformed', reason: 'type_unusable' }
  const subject = firstId(
    fieldAt(event, 'return', 'payment'),
    fieldAt(event, 'return', 'id'),
    fieldAt(event, 'plan', 'id'),
  )
  return { kind: 'identified', eventId, eventType, subject }
}
