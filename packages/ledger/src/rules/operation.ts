import {
  type ConnectionDocument,
  hasExecuted,
  idempotencyReference,
  isoTime,
  type NewOperation,
  type NewTransition,
  type Operation,
  type OperationState,
  objectReference,
  type ProviderKind,
  siblingReference,
} from '@backstop/contracts'
import {
  type ApprovalPolicy,
  type ApprovalRefusal,
  approvalAfterTransition,
  approvalGapAtExecution,
  newApproval,
  stateOnReport,
  type TransitionActor,
  whyDecisionRefused,
} from './approval.ts'
import { decideTransition, hasEnded, type IllegalReason } from './transition.ts'

/** The fields of a connection that an operation depends on. */
export type OperationConnection = Pick<ConnectionDocument, '_id' | 'project_id' | 'kind' | 'site'>

/** A reported time that contradicts the state or another time. */
interface InvalidTime {
  readonly kind: 'bad_time'
  readonly field: 'executing_at' | 'ended_at'
  readonly reason: TimeRefusal
}

/** The result of a new report. */
export type RecordResult =
  | { readonly kind: 'recorded'; readonly operation: Operation }
  | { readonly kind: 'refused'; readonly reason: 'approval_is_not_yours' }
  | InvalidTime

/** Why a reported time is refused. */
export type TimeRefusal =
  | 'state_has_not_executed'
  | 'state_has_not_ended'
  | 'lies_in_the_future'
  | 'ends_before_it_began'

/** The result of a transition. */
export type TransitionResult =
  | { readonly kind: 'moved'; readonly operation: Operation }
  /** The report was a repeat: nothing changes, and nothing is published. */
  | { readonly kind: 'unchanged'; readonly operation: Operation }
  | { readonly kind: 'refused'; readonly reason: IllegalReason | ApprovalRefusal | 'other_provider_ref' }
  | InvalidTime

/**
 * How far ahead a reporter's clock may be, in milliseconds. An operation that begins far in the future could explain
 * changes for ever.
 */
export const CLOCK_SKEW_MS = 5 * 60_000

/**
 * Creates an operation from a report in any state. A request waits for approval if its project requires it; an operation
 * reported as executing or completed is recorded as such.
 * @param now milliseconds since the epoch
 * @param reportedBy the API key or person that reports it
 */
export function recordOperation(
  id: string,
  reported: NewOperation,
  connection: OperationConnection,
  policy: ApprovalPolicy,
  now: number,
  reportedBy: string | null = null,
): RecordResult {
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
      approval: state === 'approval_pending' ? newApproval(policy, now) : null,
      unapproved: times.executingAt === null ? null : approvalGapAtExecution(undefined, policy.required),
      budgets: [],
      reported_by: reportedBy,
      provider_request_id: reported.provider_request_id ?? null,
    },
  }
}

/** Who changes the state of an operation. */
export interface TransitionContext {
  readonly mover: TransitionActor
  /** The approval policy of its project. Only a transition to `approval_pending` needs it. */
  readonly policy?: ApprovalPolicy | undefined
}

/**
 * Applies a transition to an operation. A repeat of its present state changes nothing, unless it adds the provider's id of the action or of the request.
 */
export function applyTransition(
  operation: Operation,
  transition: NewTransition,
  { mover, policy }: TransitionContext,
  now: number,
): TransitionResult {
  const { to } = transition
  const verdict = decideTransition(operation.state, to)
  if (verdict.kind === 'illegal') return { kind: 'refused', reason: verdict.reason }
  const refusal = whyDecisionRefused(operation, to, mover, now)
  if (refusal !== undefined) return { kind: 'refused', reason: refusal }
  const learned = transition.provider_ref ?? null
  if (learned !== null && operation.provider_ref !== null && learned !== operation.provider_ref) {
    return { kind: 'refused', reason: 'other_provider_ref' }
  }
  const learnsRef = learned !== null && operation.provider_ref === null
  const learnsRequest = transition.provider_request_id !== undefined && operation.provider_request_id == null
  const moved = {
    ...operation,
    version: operation.version + 1,
    provider_ref: operation.provider_ref ?? learned,
    refs: learnsRef ? withProviderRef(operation, learned) : operation.refs,
    provider_request_id: transition.provider_request_id ?? operation.provider_request_id ?? null,
    // The reason of a failure is not that of the answer which replaces it.
    reason: transition.reason ?? (operation.state === 'failed' && to !== 'failed' ? null : operation.reason),
    updated_at: isoTime(now),
  }
  if (verdict.kind === 'already_there') {
    return learnsRef || learnsRequest ? { kind: 'moved', operation: moved } : { kind: 'unchanged', operation }
  }
  // If `executing` was not reported, the operation began no earlier than the last time at which it was known not to
  // execute.
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
      approval: approvalAfterTransition(operation, to, mover, policy, now),
      unapproved: begins ? approvalGapAtExecution(operation.state, required) : (operation.unapproved ?? null),
    },
  }
}

/**
 * Marks an operation as reminded. `updated_at` is kept, because it shows when the operation was last known not to
 * execute, which a timer does not know.
 */
export function markReminded(operation: Operation, now: number): Operation {
  const { approval } = operation
  if (approval == null) return operation
  return { ...operation, version: operation.version + 1, approval: { ...approval, reminded_at: isoTime(now) } }
}

/** The known facts about when an operation began, before a report. */
interface KnownStart {
  /** Its state before; undefined if this is its first report. */
  readonly from: OperationState | undefined
  /** When it began to execute; null if not reported. */
  readonly executingAt: string | null
  /** The last time at which it is known not to have executed, so it began no earlier. */
  readonly idleUntil: number
}

type Times =
  | { readonly kind: 'times'; readonly executingAt: string | null; readonly endedAt: string | null }
  | InvalidTime

/**
 * The times of an operation in its new state: the reported time, or else the known time, or else now. If a reported and
 * a known time contradict each other, the reported time is used, because the known time may only show when a report
 * arrived. After `failed` the earlier time is used: the report may be about a repeated call, while the first call made
 * the change.
 */
function timesOf(
  state: OperationState,
  reported: Pick<NewTransition, 'executing_at' | 'ended_at'>,
  known: KnownStart,
  now: number,
): Times {
  const executing = reported.executing_at === undefined ? undefined : Date.parse(reported.executing_at)
  const ended = reported.ended_at === undefined ? undefined : Date.parse(reported.ended_at)
  const bad = (field: InvalidTime['field'], reason: TimeRefusal): Times => ({ kind: 'bad_time', field, reason })
  if (executing !== undefined && !hasExecuted(state)) return bad('executing_at', 'state_has_not_executed')
  if (ended !== undefined && !hasEnded(state)) return bad('ended_at', 'state_has_not_ended')
  if (executing !== undefined && executing > now + CLOCK_SKEW_MS) return bad('executing_at', 'lies_in_the_future')
  if (ended !== undefined && ended > now + CLOCK_SKEW_MS) return bad('ended_at', 'lies_in_the_future')
  const knownStart = known.executingAt === null ? known.idleUntil : Date.parse(known.executingAt)
  const isRepeat = known.from === 'failed' && known.executingAt !== null
  const reportedStart = executing === undefined || !isRepeat ? executing : Math.min(executing, knownStart)
  const began = reportedStart ?? (ended === undefined ? knownStart : Math.min(knownStart, ended))
  const end = ended ?? Math.max(now, began)
  // A failed operation may have been sent: a request that timed out may still have moved the money. Only an operation
  // that fails while it waits for approval was never sent.
  const wasNeverSent = state === 'failed' && known.from === 'approval_pending' && executing === undefined
  const isSent = hasExecuted(state) && !wasNeverSent
  if (end < began) return bad('ended_at', 'ends_before_it_began')
  return {
    kind: 'times',
    executingAt: isSent ? isoTime(began) : null,
    endedAt: hasEnded(state) ? isoTime(end) : null,
  }
}

/** The objects that an operation names. */
export interface NamedObjects {
  readonly projectId: string
  readonly provider: ProviderKind
  /** Null if the provider's ids are unique without a site. */
  readonly site: string | null
  readonly subject: string
  readonly providerRef: string | null
  readonly idempotencyKey: string | null
}

/**
 * Every reference that an action may have in common with the operation: its payment or subscription first, then the
 * refund or cancellation if known, and the idempotency key if the provider's events contain it (the processor's do).
 */
export function referencesOf(named: NamedObjects): string[] {
  const site = named.site ?? undefined
  const references = [objectReference(named.projectId, named.provider, site, named.subject)]
  if (named.providerRef !== null) {
    references.push(objectReference(named.projectId, named.provider, site, named.providerRef))
  }
  if (named.idempotencyKey !== null && named.provider === 'processor') {
    references.push(idempotencyReference(named.projectId, named.provider, named.idempotencyKey))
  }
  return [...new Set(references)]
}

/**
 * Adds the reference of a provider_ref that becomes known. The site is that of the subject's reference, because an operation
 * does not store it.
 */
export function withProviderRef(operation: Operation, providerRef: string): string[] {
  const [subject] = operation.refs
  if (subject === undefined) return operation.refs
  return [...new Set([...operation.refs, siblingReference(subject, providerRef)])]
}
