import type { NewOperation, Operation, OperationState } from '@backstop/contracts'
import { decideTransition, isReachable } from './transition.ts'

export type Agreement =
  /** The same report again, or one that the operation has gone beyond. */
  | { readonly kind: 'agrees' }
  /** The same operation, reported further on: it is to become that. */
  | { readonly kind: 'goes_on'; readonly to: OperationState }
  | { readonly kind: 'differs'; readonly field: keyof NewOperation & string }

/**
 * What a report under a known idempotency key is to the operation that is stored. What the operation learned since then (its
 * later states, its provider_ref) is no difference, and what the report leaves out says nothing; what it says of the
 * operation beyond what is stored is a difference, but for how it went on.
 */
export function compareReport(stored: Operation, reported: NewOperation): Agreement {
  for (const field of ['kind', 'subject', 'amount', 'currency', 'run_id', 'provider_ref'] as const) {
    const isLearned = field === 'provider_ref' && stored.provider_ref === null
    if (reported[field] !== undefined && reported[field] !== stored[field] && !isLearned) return differs(field)
  }
  if (decideTransition(stored.state, reported.state).kind === 'legal') return { kind: 'goes_on', to: reported.state }
  if (!wasEver(stored, reported.state)) return differs('state')
  if (!isSameTime(reported.executing_at, stored.executing_at)) return differs('executing_at')
  if (!isSameTime(reported.ended_at, stored.ended_at)) return differs('ended_at')
  const learnsRef = reported.provider_ref !== undefined && stored.provider_ref === null
  return learnsRef ? { kind: 'goes_on', to: stored.state } : { kind: 'agrees' }
}

/** Whether the operation can have been in that state. Of a decision that it went against, it keeps the trace. */
function wasEver(stored: Operation, state: OperationState): boolean {
  const isDecision = state === 'declined' || state === 'expired'
  if (isDecision && stored.state !== state) return stored.unapproved === state
  return isReachable(state, stored.state)
}

/** A time that was left out was set by us, and says nothing. */
function isSameTime(reported: string | undefined, stored: string | null): boolean {
  return reported === undefined || (stored !== null && Date.parse(reported) === Date.parse(stored))
}

function differs(field: keyof NewOperation & string): Agreement {
  return { kind: 'differs', field }
}
