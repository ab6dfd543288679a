import {
  type Approval,
  type ApprovalGap,
  DEFAULT_APPROVAL_DEADLINE_S,
  isoTime,
  type Operation,
  type OperationState,
  type ProjectDocument,
} from '@backstop/contracts'

/** Whether operations of a project need approval. */
export interface ApprovalPolicy {
  readonly required: boolean
  /** How long people have to decide. */
  readonly deadlineMs: number
}

/** The approval policy in a project's settings. Without a project, no approval is required. */
export function approvalPolicyOf(
  project: Pick<ProjectDocument, 'requires_approval' | 'approval_deadline_seconds'> | undefined | null,
): ApprovalPolicy {
  return {
    required: project?.requires_approval ?? false,
    deadlineMs: (project?.approval_deadline_seconds ?? DEFAULT_APPROVAL_DEADLINE_S) * 1_000,
  }
}

/**
 * Who changes the state of an operation: the software that reports it, a person with a key that may approve, or the
 * deadline.
 */
export type TransitionActor =
  | { readonly kind: 'reporter' }
  | { readonly kind: 'approver'; readonly approverId: string }
  | { readonly kind: 'timer' }

/** Why a decision is refused. */
export type ApprovalRefusal =
  /** The project requires approval by a person, so the reporter may not approve. */
  | 'approval_is_not_yours'
  /** Whoever reported the operation may not approve it. */
  | 'reporter_approves'
  /** The deadline has passed, though the expiry is not recorded yet. */
  | 'deadline_passed'

/** The state in which a report is stored: a request waits for approval if that is required. */
export function stateOnReport(state: OperationState, policy: ApprovalPolicy): OperationState {
  return state === 'requested' && policy.required ? 'approval_pending' : state
}

/** A new approval, requested now. */
export function newApproval(policy: ApprovalPolicy, now: number): Approval {
  return {
    required: policy.required,
    requested_at: isoTime(now),
    remind_at: isoTime(now + Math.floor(policy.deadlineMs / 2)),
    deadline_at: isoTime(now + policy.deadlineMs),
    reminded_at: null,
    decided_at: null,
    decided_by: null,
  }
}

/** Why a decision on an operation is refused; undefined if it is allowed. */
export function whyDecisionRefused(
  operation: Operation,
  to: OperationState,
  mover: TransitionActor,
  now: number,
): ApprovalRefusal | undefined {
  const { approval, state } = operation
  if (state !== 'approval_pending' || approval == null || (to !== 'approved' && to !== 'declined')) return undefined
  if (to === 'approved' && approval.required && mover.kind !== 'approver') return 'approval_is_not_yours'
  if (now >= Date.parse(approval.deadline_at)) return 'deadline_passed'
  const isOwn = mover.kind === 'approver' && mover.approverId === operation.reported_by
  return to === 'approved' && approval.required && isOwn ? 'reporter_approves' : undefined
}

/** The approval of an operation after its state has changed. */
export function approvalAfterTransition(
  operation: Operation,
  to: OperationState,
  mover: TransitionActor,
  policy: ApprovalPolicy | undefined,
  now: number,
): Approval | null {
  if (to === 'approval_pending') {
    if (policy === undefined) throw new Error('Approval is asked for without the approval policy of the project')
    return newApproval(policy, now)
  }
  const approval = operation.approval ?? null
  const isDecided = to === 'approved' || to === 'declined' || to === 'expired'
  if (approval === null || !isDecided) return approval
  return {
    ...approval,
    decided_at: isoTime(now),
    decided_by: mover.kind === 'approver' ? mover.approverId : null,
  }
}

/**
 * The approval that an operation lacks when it begins to execute; null if it lacks none. An operation with a gap
 * explains nothing.
 * @param from its state before; undefined if this is its first report
 * @param required true if approval was required at its first report
 */
export function approvalGapAtExecution(from: OperationState | undefined, required: boolean): ApprovalGap | null {
  switch (from) {
    case 'declined':
    case 'expired':
      // Executing against a decision is a gap, even if approval was not required.
      return from
    case 'approval_pending':
    // Before it executes, an operation can only fail while it waits for approval.
    case 'failed':
      return required ? 'outstanding' : null
    case undefined:
      return required ? 'never_asked' : null
    case 'requested':
    case 'approved':
    case 'executing':
    case 'awaiting_review':
    case 'completed':
    case 'rejected':
      return null
    default:
      return from satisfies never
  }
}

/**
 * When the reminder or the expiry of an operation is due, in milliseconds since the epoch; null if neither will be due.
 */
export function nextTimerAt({ state, approval }: Operation): number | null {
  if (state !== 'approval_pending' || approval == null) return null
  return Date.parse(approval.reminded_at === null ? approval.remind_at : approval.deadline_at)
}

/**
 * The timer action that is due now. After the deadline no reminder is sent, because the decision is no longer possible.
 */
export function dueTimerAction(operation: Operation, now: number): 'remind' | 'expire' | 'nothing_due' {
  const timerAt = nextTimerAt(operation)
  if (timerAt === null || timerAt > now) return 'nothing_due'
  return now >= Date.parse(operation.approval!.deadline_at) ? 'expire' : 'remind'
}
