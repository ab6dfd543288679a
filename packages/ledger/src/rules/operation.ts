import {
  type ConnectionDocument,
  hasExecuted,
  isoTime,
  type NewOperation,
  type NewTransition,
  type Operation,
  type OperationState,
} from '@backstop/contracts'
import {
  type ApprovalPolicy,
  type ApprovalRefusal,
  approvalAfter,
  askForApproval,
  gapOnExecution,
  type Mover,
  refuseDecision,
  stateOnReport,
} from './approval.ts'
import { referencesOf, withProviderRef } from './references.ts'
import { decideTransition, hasEnded, type IllegalReason } from './transition.ts'

/** The connection as far as an operation depends on it. */
export type OperationConnection = Pick<ConnectionDocument, '_id' | 'project_id' | 'kind' | 'site'>

/** A reported time contradicts the state or another time. */
export interface BadTime {
  readonly kind: 'bad_time'
  readonly field: 'executing_at' | 'ended_at'
  readonly reason: TimeRefusal
}

export type Recorded =
  | { readonly kind: 'recorded'; readonly operation: Operation }
  | { readonly kind: 'refused'; readonly reason: 'approval_is_not_yours' }
  | BadTime

export type TimeRefusal =
  | 'state_has_not_executed'
  | 'state_has_not_ended'
  | 'lies_in_the_future'
  | 'ends_before_it_began'

export type Transitioned =
  | { readonly kind: 'moved'; readonly operation: Operation }
  /** The same report again: nothing changes, and nothing is published. */
  | { readonly kind: 'unchanged'; readonly operation: Operation }
  | { readonly kind: 'refused'; readonly reason: IllegalReason | ApprovalRefusal | 'other_provider_ref' }
  | BadTime

/** How far ahead of our clock a reporter's may be. A time beyond would hold open for ever what the operation explains. */
export const CLOCK_SKEW_MS = 5 * 60_000

/**
 * A new operation as it was reported, in whatever state: what is reported as executing or completed happened. Where its
 * project requires approval, a request asks for it.
 * @param now milliseconds since the epoch
 */
export function recordOperation(
  id: string,
  reported: NewOperation,
  connection: OperationConnection,
  policy: ApprovalPolicy,
  now: number,
): Recorded {
  const state = stateOnReport(reported.state, policy)
  if (state === 'approved' && policy.required) return { kind: 'refused', reason: 'approval_is_not_yours' }
  const times = timesOf(state, reported, { from: undefined, executingAt: null, idleUntil: now }, now)
  if (times.kind === 'bad_time') return times
  const named = {
    projectId: connection.project_id,
    provider: connection.kind,
    site: connection.site,
    subject: reported.subject,
    providerRef: reported.provider_ref ?? null,
    idempotencyKey: reported.idempotency_key ?? null,
  }
  return {
    kind: 'recorded',
    operation: {
      operation_id: id,
      project_id: connection.project_id,
      connection_id: connection._id,
      provider: connection.kind,
      version: 1,
      kind: reported.kind,
      subject: reported.subject,
      amount: reported.amount ?? null,
      currency: reported.currency ?? null,
      provider_ref: named.providerRef,
      idempotency_key: named.idempotencyKey,
      run_id: reported.run_id ?? null,
      state,
      reason: reported.reason ?? null,
      executing_at: times.executingAt,
      ended_at: times.endedAt,
      created_at: isoTime(now),
      updated_at: isoTime(now),
      refs: referencesOf(named),
      approval: state === 'approval_pending' ? askForApproval(policy, now) : null,
      unapproved: times.executingAt === null ? null : gapOnExecution(undefined, policy.required),
      budgets: [],
    },
  }
}

/** Who moves an operation, and what its project asks for. */
export interface TransitionContext {
  readonly mover: Mover
  readonly policy: ApprovalPolicy
}

/**
 * An operation after a reported transition. Repeating the state it is in changes nothing, unless it tells the provider_ref
 * that was not known.
 */
export function applyTransition(
  operation: Operation,
  transition: NewTransition,
  { mover, policy }: TransitionContext,
  now: number,
): Transitioned {
  const { to } = transition
  const verdict = decideTransition(operation.state, to)
  if (verdict.kind === 'illegal') return { kind: 'refused', reason: verdict.reason }
  const refusal = refuseDecision(operation, to, mover, now)
  if (refusal !== undefined) return { kind: 'refused', reason: refusal }
  const learned = transition.provider_ref ?? null
  if (learned !== null && operation.provider_ref !== null && learned !== operation.provider_ref) {
    return { kind: 'refused', reason: 'other_provider_ref' }
  }
  const learnsRef = learned !== null && operation.provider_ref === null
  const moved = {
    ...operation,
    version: operation.version + 1,
    provider_ref: operation.provider_ref ?? learned,
    refs: learnsRef ? withProviderRef(operation, learned) : operation.refs,
    reason: transition.reason ?? operation.reason,
    updated_at: isoTime(now),
  }
  if (verdict.kind === 'already_there') {
    return learnsRef ? { kind: 'moved', operation: moved } : { kind: 'unchanged', operation }
  }
  // Where executing itself is left out of the report, it began when it was last known not to at the earliest.
  const idleUntil = to === 'executing' ? now : Date.parse(operation.updated_at)
  const { state: from, executing_at: executingAtBefore } = operation
  const times = timesOf(to, transition, { from, executingAt: executingAtBefore, idleUntil }, now)
  if (times.kind === 'bad_time') return times
  const { executingAt, endedAt } = times
  const begins = operation.executing_at === null && executingAt !== null
  const required = operation.approval?.required ?? false
  return {
    kind: 'moved',
    operation: {
      ...moved,
      state: to,
      executing_at: executingAt,
      ended_at: endedAt,
      approval: approvalAfter(operation, to, mover, policy, now),
      unapproved: begins ? gapOnExecution(operation.state, required) : (operation.unapproved ?? null),
    },
  }
}

/**
 * A waiting operation once people are reminded. It keeps its `updated_at`: that is when it was last known not to execute, of
 * which a timer knows nothing.
 */
export function remind(operation: Operation, now: number): Operation {
  const { approval } = operation
  if (approval == null) return operation
  return { ...operation, version: operation.version + 1, approval: { ...approval, reminded_at: isoTime(now) } }
}

/** What is known of the beginning of an operation before a report. */
interface KnownStart {
  /** The state that it was in; undefined where it is reported for the first time. */
  readonly from: OperationState | undefined
  /** When it began executing; null where nobody said so yet. */
  readonly executingAt: string | null
  /** The last moment at which it is known not to have executed: later would leave out the moment at which it did. */
  readonly idleUntil: number
}

type Times = { readonly kind: 'times'; readonly executingAt: string | null; readonly endedAt: string | null } | BadTime

/**
 * The times of an operation that reaches a state: as reported, else as known, else now. Of two that contradict each other the
 * reported one counts: what we set ourselves is when the report reached us.
 */
function timesOf(
  state: OperationState,
  reported: Pick<NewTransition, 'executing_at' | 'ended_at'>,
  known: KnownStart,
  now: number,
): Times {
  const executing = reported.executing_at === undefined ? undefined : Date.parse(reported.executing_at)
  const ended = reported.ended_at === undefined ? undefined : Date.parse(reported.ended_at)
  const bad = (field: BadTime['field'], reason: TimeRefusal): Times => ({ kind: 'bad_time', field, reason })
  if (executing !== undefined && !hasExecuted(state)) return bad('executing_at', 'state_has_not_executed')
  if (ended !== undefined && !hasEnded(state)) return bad('ended_at', 'state_has_not_ended')
  if (executing !== undefined && executing > now + CLOCK_SKEW_MS) return bad('executing_at', 'lies_in_the_future')
  if (ended !== undefined && ended > now + CLOCK_SKEW_MS) return bad('ended_at', 'lies_in_the_future')
  const knownStart = known.executingAt === null ? known.idleUntil : Date.parse(known.executingAt)
  const began = executing ?? (ended === undefined ? knownStart : Math.min(knownStart, ended))
  const end = ended ?? Math.max(now, began)
  // A report of failure does not say that nothing was sent: a request that timed out may have moved the money. Only a request
  // that still waits for approval is given up by it.
  const isGivenUp = state === 'failed' && known.from === 'approval_pending' && executing === undefined
  const isSent = hasExecuted(state) && !isGivenUp
  if (end < began) return bad('ended_at', 'ends_before_it_began')
  return {
    kind: 'times',
    executingAt: isSent ? isoTime(began) : null,
    endedAt: hasEnded(state) ? isoTime(end) : null,
  }
}
