import type { Case } from '../case/case.ts'
import type { Canaries } from '../case/decision-context.ts'
import { detailsOf } from '../case/sides.ts'
import { openIncidentAbout } from './incidents.ts'

/**
 * Opens CANARY_USED about each action of a canary, at once and once for each action. Whether anything explains the action
 * does not matter, nor does the setting `out_of_band`. Only a person resolves the incident.
 */
export function reportCanaries(theCase: Case, canaries: Canaries | undefined, now: number): Case {
  if (canaries === undefined || canaries.size === 0) return theCase
  return theCase.actions.reduce((next, record) => {
    const { actor } = detailsOf(record)?.origin ?? {}
    const since = actor && canaries.get(actor.id)
    const connectionId = record.seenThrough[0]?.id
    if (since === undefined || record.firstSeenAt < since || connectionId === undefined) return next
    return openIncidentAbout(next, record, { code: 'CANARY_USED', connectionId, outOfBand: null }, 'CANARY_USED', now)
  }, theCase)
}
