import { hasExecuted, OperationState } from '@backstop/contracts'

/** Why a transition is illegal. */
export type IllegalReason =
  /** The operation has ended. Only `failed`, `declined` and `expired` may be followed by what the provider did. */
  | 'already_ended'
  /** The new state is an earlier one. */
  | 'would_go_back'
  /** It cannot be approved, declined or expired, because no approval was requested. */
  | 'approval_not_asked'
  /** It cannot be declined or expire, because it was approved. */
  | 'already_decided'

/** The result of checking a transition. */
export type TransitionVerdict =
  | { readonly kind: 'legal' }
  /** The operation is already in that state, for example because a report is repeated. */
  | { readonly kind: 'already_there' }
  | { readonly kind: 'illegal'; readonly reason: IllegalReason }

const HAS_ENDED: Record<OperationState, boolean> = {
  requested: false,
  approval_pending: false,
  approved: false,
  declined: true,
  expired: true,
  executing: false,
  awaiting_review: false,
  completed: true,
  failed: true,
  rejected: true,
}

/** True for an end state. What the provider did after `declined`, `expired` or `failed` is recorded nevertheless. */
export function hasEnded(state: OperationState): boolean {
  return HAS_ENDED[state]
}

/**
 * Decides whether an operation may go from one state to another: requested → (approval_pending → approved | declined |
 * expired) → executing → (awaiting_review) → completed | failed | rejected. Intermediate states may be skipped
 * (requested → completed). `failed` may still become completed or rejected. An operation that executed without its approval, or against a decision, is recorded too;
 * `approvalGapAtExecution` in approval.ts marks it.
 */
export function decideTransition(from: OperationState, to: OperationState): TransitionVerdict {
  if (from === to) return { kind: 'already_there' }
  switch (from) {
    case 'requested':
      if (to === 'approval_pending' || hasExecuted(to)) return { kind: 'legal' }
      return illegal('approval_not_asked')
    case 'approval_pending':
      return to === 'requested' ? illegal('would_go_back') : { kind: 'legal' }
    case 'approved':
      if (hasExecuted(to)) return { kind: 'legal' }
      return illegal(to === 'declined' || to === 'expired' ? 'already_decided' : 'would_go_back')
    case 'executing':
      return hasExecuted(to) ? { kind: 'legal' } : illegal('would_go_back')
    case 'awaiting_review':
      return hasExecuted(to) && hasEnded(to) ? { kind: 'legal' } : illegal('would_go_back')
    case 'declined':
    case 'expired':
      // A declined or expired operation that fails was not sent, so there is nothing to record.
      if (hasExecuted(to) && to !== 'failed') return { kind: 'legal' }
      return illegal(hasEnded(to) ? 'already_ended' : 'would_go_back')
    case 'failed':
      // A failed call may have been executed, or repeated with success: the provider's answer replaces the failure.
      // `executing` is no answer: a late report of the failed call would begin an operation that never ends.
      if (to === 'completed' || to === 'rejected') return { kind: 'legal' }
      return illegal(hasEnded(to) ? 'already_ended' : 'would_go_back')
    case 'completed':
    case 'rejected':
      // A late report of another end gets `already_ended`, because the usual advice to report a new operation would
      // create one that never ends.
      return illegal(hasEnded(to) ? 'already_ended' : 'would_go_back')
    default:
      return from satisfies never
  }
}

/** True if an operation that was in `earlier` can be in `later` now. */
export function isReachable(earlier: OperationState, later: OperationState): boolean {
  // The recursion ends, because every legal transition leads forward.
  return (
    earlier === later ||
    OperationState.options.some(next => decideTransition(earlier, next).kind === 'legal' && isReachable(next, later))
  )
}

function illegal(reason: IllegalReason): TransitionVerdict {
  return { kind: 'illegal', reason }
}
