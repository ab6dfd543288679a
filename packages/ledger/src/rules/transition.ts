import { hasExecuted, OperationState } from '@backstop/contracts'

/** Why an operation may not go from one state to another. */
export type IllegalReason =
  /** It has ended, and what ended stays ended. */
  | 'already_ended'
  /** The state lies behind it. */
  | 'would_go_back'
  /** Approved, declined or expired, where approval was never asked for. */
  | 'approval_not_asked'
  /** It would be declined or expire after it was approved. */
  | 'already_decided'

export type TransitionVerdict =
  | { readonly kind: 'legal' }
  /** It is in that state already: a repeated report, whose answer was lost perhaps. */
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

/** Whether that state is an end. After declined and expired nothing is to come, and what came all the same is recorded. */
export function hasEnded(state: OperationState): boolean {
  return HAS_ENDED[state]
}

/**
 * Whether an operation may go from one state to another:
 * requested → (approval_pending → approved | declined | expired) → executing → (awaiting_review) → completed | failed | rejected.
 * Stages on the way may be left out of the report (requested → completed): whoever reports only the end reports the truth.
 * What executed without its approval, or against it, happened, too: it is recorded, and approval.ts says what it is worth.
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
      // Failed before it was sent, it did what the decision asks for: nothing.
      if (hasExecuted(to) && to !== 'failed') return { kind: 'legal' }
      return illegal(hasEnded(to) ? 'already_ended' : 'would_go_back')
    case 'completed':
    case 'failed':
    case 'rejected':
      // A report that comes late is told so: "report a new operation" would make a second one of it, open for ever.
      return illegal(hasEnded(to) ? 'already_ended' : 'would_go_back')
    default:
      return from satisfies never
  }
}

/** Whether an operation that was once reported in `earlier` can be in `later` by now. */
export function isReachable(earlier: OperationState, later: OperationState): boolean {
  // Every legal step leads forward, so this ends.
  return (
    earlier === later ||
    OperationState.options.some(next => decideTransition(earlier, next).kind === 'legal' && isReachable(next, later))
  )
}

function illegal(reason: IllegalReason): TransitionVerdict {
  return { kind: 'illegal', reason }
}
