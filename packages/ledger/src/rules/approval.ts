import {
  type Approval,
  type ApprovalGap,
  DEFAULT_APPROVAL_DEADLINE_S,
  isoTime,
  type Operation,
  type OperationState,
  type ProjectDocument,
} from '@backstop/contracts'

/** What a project asks for before its operations may execute. */
export interface ApprovalPolicy {
  readonly required: boolean
  /** How long people have to decide. */
  readonly deadlineMs: number
}

/** What a project's settings say of approval. A project that is not there asks for nothing. */
export function approvalPolicyOf(
  project: Pick<ProjectDocument, 'requires_approval' | 'approval_deadline_seconds'> | undefined | null,
): ApprovalPolicy {
  return {
    required: project?.requires_approval ?? false,
    deadlineMs: (project?.approval_deadline_seconds ?? DEFAULT_APPROVAL_DEADLINE_S) * 1_000,
  }
}

/** Who moves an operation: the software that reports it, a person with a key that may approve, or the deadline. */
export type Mover =
  | { readonly kind: 'reporter' }
  | { readonly kind: 'approver'; readonly keyId: string }
  | { readonly kind: 'timer' }

export type ApprovalRefusal =
  /** Its project requires approval, which is not the reporter's to give. */
  | 'approval_is_not_yours'
  /** The time to decide is over; that it expired is yet to be written. */
  | 'deadline_passed'

/** In which state an operation is stored that is reported in `state`: where approval is required, a request asks for it. */
export function stateOnReport(state: OperationState, policy: ApprovalPolicy): OperationState {
  return state === 'requested' && policy.required ? 'approval_pending' : state
}

/** An approval that is asked for now. */
export function askForApproval(policy: ApprovalPolicy, now: number): Approval {
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

/** Why an operation may not be decided on like that; undefined where nothing of its approval stands against it. */
export function refuseDecision(
  operation: Operation,
  to: OperationState,
  mover: Mover,
  now: number,
): ApprovalRefusal | undefined {
  const { approval, state } = operation
  if (state !== 'approval_pending' || approval == null || (to !== 'approved' && to !== 'declined')) return undefined
  if (to === 'approved' && approval.required && mover.kind !== 'approver') return 'approval_is_not_yours'
  return now >= Date.parse(approval.deadline_at) ? 'deadline_passed' : undefined
}

/** The approval of an operation after its state has changed. */
export function approvalAfter(
  operation: Operation,
  to: OperationState,
  mover: Mover,
  policy: ApprovalPolicy,
  now: number,
): Approval | null {
  if (to === 'approval_pending') return askForApproval(policy, now)
  const approval = operation.approval ?? null
  const isDecided = to === 'approved' || to === 'declined' || to === 'expired'
  if (approval === null || !isDecided) return approval
  return {
    ...approval,
    decided_at: isoTime(now),
    decided_by: mover.kind === 'approver' ? mover.keyId : null,
  }
}

/**
 * What is wrong with the approval of an operation that begins to execute: nothing, or why it explains nothing.
 * @param from the state that it was in; undefined where it is heard of for the first time
 * @param required whether approval was required when it was first heard of
 */
export function gapOnExecution(from: OperationState | undefined, required: boolean): ApprovalGap | null {
  switch (from) {
    case 'declined':
    case 'expired':
      // Whoever asked for approval and acts against the answer skips it, required or not.
      return from
    case 'approval_pending':
      return required ? 'outstanding' : null
    case undefined:
      return required ? 'never_asked' : null
    case 'requested':
    case 'approved':
    case 'executing':
    case 'awaiting_review':
    case 'completed':
    case 'failed':
    case 'rejected':
      return null
    default:
      return from satisfies never
  }
}

/** When something is to be done about the approval of an operation, in milliseconds since the epoch; null: never. */
export function nextTimerAt({ state, approval }: Operation): number | null {
  if (state !== 'approval_pending' || approval == null) return null
  return Date.parse(approval.reminded_at === null ? approval.remind_at : approval.deadline_at)
}

/** What a timer does now. Whoever comes late past the deadline reminds nobody of what cannot be done any more. */
export function dueOf(operation: Operation, now: number): 'remind' | 'expire' | 'nothing_due' {
  const timerAt = nextTimerAt(operation)
  if (timerAt === null || timerAt > now) return 'nothing_due'
  return now >= Date.parse(operation.approval!.deadline_at) ? 'expire' : 'remind'
}
