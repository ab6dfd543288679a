import type { VerdictReason } from '@backstop/contracts'
import type { ActionRecord, LateReading } from './action-record.ts'
import type { SightingSource } from './case.ts'

/** A provider that is read after an alert may deny that the action exists: then the alert was wrong. */

/** Why an alert that was sent without the provider's answer does not hold; null where it holds. */
export function disproofOf({ look }: ActionRecord): Extract<VerdictReason, 'provider_denies_it'> | null {
  return look?.lateReading?.outcome === 'not_found' ? 'provider_denies_it' : null
}

/**
 * The record without the provider's denial, when the provider shows it after all. A signed event that was not known at the
 * denial outweighs it: the read key may have been that of another account.
 */
export function withoutDenial(before: ActionRecord, record: ActionRecord, source: SightingSource): ActionRecord {
  const known = record.look?.lateReading
  if (known?.outcome !== 'not_found') return record
  const { eventId, reading } = source
  const isNewEvent = eventId !== null && record.eventIds.includes(eventId) && !before.eventIds.includes(eventId)
  if (reading === null && !isNewEvent) return record
  const readBack = reading === null ? 'unavailable' : 'confirmed'
  return { ...withLateReading(record, { ...known, outcome: 'confirmed' }), readBack }
}

/** The record with what its late reading has come to. */
export function withLateReading(action: ActionRecord, lateReading: LateReading): ActionRecord {
  const { look } = action
  return look === null || look.doneAt === null ? action : { ...action, look: { ...look, lateReading } }
}
