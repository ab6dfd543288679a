import { fieldAt, firstId, isUsableWord } from '../event-fields.ts'
import type { Identification } from '../provider.ts'

/** Reads the envelope `{id, event_type, content: {subscription?, credit_note?, transaction?, invoice?, …}}`. */
export function identify(event: Readonly<Record<string, unknown>>): Identification {
  const eventId = fieldAt(event, 'id')
  if (!isUsableWord(eventId)) return { kind: 'malformed', reason: 'id_unusable' }
  const eventType = fieldAt(event, 'event_type')
  if (!isUsableWord(eventType)) return { kind: 'malformed', reason: 'type_unusable' }
  return { kind: 'identified', eventId, eventType, subject: subjectOf(fieldAt(event, 'content')) }
}

/** The id of the subscription, or else of the invoice, which both a credit note and its refund name. */
function subjectOf(content: unknown): string | null {
  return firstId(
    fieldAt(content, 'subscription', 'id'),
    fieldAt(content, 'credit_note', 'subscription_id'),
    fieldAt(content, 'transaction', 'subscription_id'),
    fieldAt(content, 'invoice', 'id'),
    fieldAt(content, 'credit_note', 'reference_invoice_id'),
    fieldAt(content, 'transaction', 'refunded_txn_id'),
    fieldAt(content, 'transaction', 'reference_transaction_id'),
    fieldAt(content, 'transaction', 'id'),
    fieldAt(content, 'credit_note', 'id'),
  )
}
