import type { NewOperation, Operation, OperationState } from '@backstop/contracts'
import { decideTransition, isReachable } from './transition.ts'

/** How a report compares with the stored operation. */
export type ReportComparison =
  /** The same report again, or one of an earlier state. */
  | { readonly kind: 'agrees' }
  /** The same operation in a later state. */
  | { readonly kind: 'goes_on'; readonly to: OperationState }
  | { readonly kind: 'differs'; readonly field: keyof NewOperation & string }

/**
 * Compares a report that has a known idempotency key with the stored operation. These are no differences: fields that
 * the report leaves out, and a later state or a provider_ref that the operation got since. The id of the request is no
 * difference either, because each repeat of a call is another request.
 */
export function compareReport(stored: Operation, reported: NewOperation): ReportComparison {
  for (const field of ['kind', 'subject', 'amount', 'currency', 'run_id', 'provider_ref'] as const) {
    const isLearned = field === 'provider_ref' && stored.provider_ref === null
    if (reported[field] !== undefined && reported[field] !== stored[field] && !isLearned) return differs(field)
  }
  if (decideTransition(stored.state, reported.state).kind === 'legal') return { kind: 'goes_on', to: reported.state }
  if (!canHaveBeenIn(stored, reported.state)) return differs('state')
  if (!isSameTime(reported.executing_at, stored.executing_at) && !isRepeatedCall(reported, stored))
    return differs('executing_at')
  if (!isSameTime(reported.ended_at, stored.ended_at)) return differs('ended_at')
  const learnsRef = reported.provider_ref !== undefined && stored.provider_ref === null
  const learnsRequest = reported.provider_request_id !== undefined && stored.provider_request_id == null
  return learnsRef || learnsRequest ? { kind: 'goes_on', to: stored.state } : { kind: 'agrees' }
}

/** True if the operation can have been in that state. `unapproved` keeps a decision that the operation ignored. */
function canHaveBeenIn(stored: Operation, state: OperationState): boolean {
  const isDecision = state === 'declined' || state === 'expired'
  if (isDecision && stored.state !== state) return stored.unapproved === state
  return isReachable(state, stored.state)
}

/** A time that the report leaves out was set by the ledger, so it does not differ. */
function isSameTime(reported: string | undefined, stored: string | null): boolean {
  return reported === undefined || (stored !== null && Date.parse(reported) === Date.parse(stored))
}

/** True if the report is about the repeated call with which the operation ended. It began later than the first call. */
function isRepeatedCall({ state, executing_at, ended_at }: NewOperation, stored: Operation): boolean {
  if (state !== stored.state || executing_at === undefined || !isSameTime(ended_at, stored.ended_at)) return false
  const { executing_at: firstCall, ended_at: end } = stored
  const at = Date.parse(executing_at)
  return firstCall !== null && end !== null && at > Date.parse(firstCall) && at <= Date.parse(end)
}

function differs(field: keyof NewOperation & string): ReportComparison {
  return { kind: 'differs', field }
}
