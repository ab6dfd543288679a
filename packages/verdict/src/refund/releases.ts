import { type Case, changeRecords } from '../case/case.ts'
import { asRelease } from '../case/sides.ts'

/**
 * Marks the refunds of charges that were never captured. Such a refund releases the authorization and moves no money,
 * but only the charge shows that.
 */
export function markReleases(theCase: Case): Case {
  const uncaptured = new Set(
    theCase.refundTotals.flatMap(({ isReleasedAuthorization, chargeId }) => (isReleasedAuthorization ? chargeId : [])),
  )
  if (uncaptured.size === 0) return theCase
  return changeRecords(theCase, action => {
    const isRelease = action.kind === 'refund' && action.objectIds.some(id => uncaptured.has(id))
    return isRelease && action.isRelease === undefined ? asRelease(action) : action
  })
}
