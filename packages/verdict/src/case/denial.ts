import type { VerdictReason } from '@backstop/contracts'
import type { ActionRecord, LateReading } from './action-record.ts'
import type { SightingSource } from './case.ts'

/**
 * The reason if the provider was read after the alert and does not know the action, so that the alert was wrong; null
 * otherwise.
 */
export function denialReasonOf({ look }: ActionRecord): Extract<VerdictReason, 'provider_denies_it'> | null {
  return look?.lateReading?.outcome === 'not_found' ? 'provider_denies_it' : null
}

/**
 * Removes the provider's denial from a record when the provider shows the action after all. A new signed event
 * outweighs the denial, because the read key may belong to another account.
 */
export function withoutDenial(before: ActionRecord, record: ActionRecord, source: SightingSource): ActionRecord {
  const known = record.look?.lateReading
  if (known?.outcome !== 'not_found') return record
  const { eventId, readFor } = source
  const isNewEvent = eventId !== null && record.eventIds.includes(eventId) && !before.eventIds.includes(eventId)
  if (readFor === null && !isNewEvent) return record
  const readBack = readFor === null ? 'unavailable' : 'confirmed'
  return { ...withLateReading(record, { ...known, outcome: 'confirmed' }), readBack }
}

export function withLateReading(action: ActionRecord, lateReading: LateReading): ActionRecord {
  const { look } = action
  return look === null || look.doneAt === null ? action : { ...action, look: { ...look, lateReading } }
}
