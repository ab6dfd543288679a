import type { ActionRecord } from '../case/action-record.ts'
import { type Case, changeRecords } from '../case/case.ts'
import { type KnownDetails, mergeDetails, withoutOrigin, withoutPersonalData } from '../case/details.ts'
import { isPersonalDataExpired } from '../case/erase-personal-data.ts'

/**
 * Adds the details of a charge to its refunds, e.g. its customer: the card processor's refund names only its charge. The
 * origin of a total is that of one refund, so it is left out. Personal data that was erased from a refund is not added
 * again, because a later refund of the charge may have shown the same customer.
 */
export function addDetailsOfCharges(theCase: Case, now: number): Case {
  const charges = detailsByCharge(theCase)
  if (charges.size === 0) return theCase
  return changeRecords(theCase, action => (action.kind === 'refund' ? withDetailsOf(action, charges, now) : action))
}

function detailsByCharge({ refundTotals }: Case): ReadonlyMap<string, KnownDetails> {
  const charges = new Map<string, KnownDetails>()
  for (const { chargeId, details } of refundTotals) {
    const known = mergeDetails(charges.get(chargeId), withoutOrigin(details))
    if (known !== undefined) charges.set(chargeId, known)
  }
  return charges
}

/** Returns the same object if the record has these details already. */
function withDetailsOf(action: ActionRecord, charges: ReadonlyMap<string, KnownDetails>, now: number): ActionRecord {
  const shown = isPersonalDataExpired(action.firstSeenAt, now) ? withoutPersonalData : same
  const details = action.objectIds.reduce((known, id) => mergeDetails(known, shown(charges.get(id))), action.details)
  return details === undefined || details === action.details ? action : { ...action, details }
}

function same(details: KnownDetails | undefined): KnownDetails | undefined {
  return details
}
