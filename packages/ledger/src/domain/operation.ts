import {
  type ConnectionDocument,
  hasExecuted,
  type NewOperation,
  type NewTransition,
  type Operation,
  type OperationState,
} from '@backstop/contracts'
import { referencesOf, withProviderRef } from './references.ts'
import { decideTransition, hasEnded, type IllegalReason } from './transition.ts'

/** The connection as far as an operation depends on it. */
export type OperationConnection = Pick<ConnectionDocument, '_id' | 'project_id' | 'kind' | 'site'>

export type Recorded =
  | { readonly kind: 'recorded'; readonly operation: Operation }
  /** A time contradicts the state or another time. */
  | { readonly kind: 'refused'; readonly field: 'executing_at' | 'ended_at'; readonly reason: TimeRefusal }

export type TimeRefusal =
  | 'state_has_not_executed'
  | 'state_has_not_ended'
  | 'lies_in_the_future'
  | 'ends_before_it_began'

export type Transitioned =
  | { readonly kind: 'moved'; readonly operation: Operation }
  /** The same report again: nothing changes, and nothing is published. */
  | { readonly kind: 'unchanged'; readonly operation: Operation }
  | { readonly kind: 'refused'; readonly reason: IllegalReason | 'other_provider_ref' }

/** How far ahead of our clock a reporter's may be. A time beyond would hold open for ever what the operation explains. */
export const CLOCK_SKEW_MS = 5 * 60_000

/**
 * A new operation as it was reported, in whatever state: what is reported as executing or completed happened.
 * @param now milliseconds since the epoch
 */
export function recordOperation(
  id: string,
  reported: NewOperation,
  connection: OperationConnection,
  now: number,
): Recorded {
  const times = timesOf(reported, now)
  if (times.kind === 'refused') return times
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
      state: reported.state,
      reason: reported.reason ?? null,
      executing_at: times.executingAt,
      ended_at: times.endedAt,
      created_at: isoTime(now),
      updated_at: isoTime(now),
      refs: referencesOf(named),
    },
  }
}

/**
 * An operation after a reported transition. Repeating the state it is in changes nothing, unless it tells the provider_ref
 * that was not known.
 */
export function applyTransition(operation: Operation, transition: NewTransition, now: number): Transitioned {
  const verdict = decideTransition(operation.state, transition.to)
  if (verdict.kind === 'illegal') return { kind: 'refused', reason: verdict.reason }
  const learned = transition.provider_ref ?? null
  if (learned !== null && operation.provider_ref !== null && learned !== operation.provider_ref) {
    return { kind: 'refused', reason: 'other_provider_ref' }
  }
  const learnsRef = learned !== null && operation.provider_ref === null
  if (verdict.kind === 'already_there' && !learnsRef) return { kind: 'unchanged', operation }
  return {
    kind: 'moved',
    operation: {
      ...operation,
      version: operation.version + 1,
      state: transition.to,
      reason: transition.reason ?? operation.reason,
      provider_ref: operation.provider_ref ?? learned,
      refs: learnsRef ? withProviderRef(operation, learned) : operation.refs,
      executing_at: operation.executing_at ?? beganExecuting(operation, transition.to, now),
      ended_at: operation.ended_at ?? (hasEnded(transition.to) ? isoTime(now) : null),
      updated_at: isoTime(now),
    },
  }
}

/**
 * When an operation that now reaches `to` began executing: now, or, where executing itself was left out of the report, when
 * it was last known not to execute. Later would leave out the moment at which it did.
 */
function beganExecuting(operation: Operation, to: OperationState, now: number): string | null {
  if (!hasExecuted(to)) return null
  return to === 'executing' ? isoTime(now) : operation.updated_at
}

type Times =
  | { readonly kind: 'times'; readonly executingAt: string | null; readonly endedAt: string | null }
  | Extract<Recorded, { kind: 'refused' }>

function timesOf(reported: NewOperation, now: number): Times {
  const executing = reported.executing_at === undefined ? undefined : Date.parse(reported.executing_at)
  const ended = reported.ended_at === undefined ? undefined : Date.parse(reported.ended_at)
  const refused = (field: 'executing_at' | 'ended_at', reason: TimeRefusal): Times => ({
    kind: 'refused',
    field,
    reason,
  })
  if (executing !== undefined && !hasExecuted(reported.state)) return refused('executing_at', 'state_has_not_executed')
  if (ended !== undefined && !hasEnded(reported.state)) return refused('ended_at', 'state_has_not_ended')
  if (executing !== undefined && executing > now + CLOCK_SKEW_MS) return refused('executing_at', 'lies_in_the_future')
  if (ended !== undefined && ended > now + CLOCK_SKEW_MS) return refused('ended_at', 'lies_in_the_future')
  const began = executing ?? (ended === undefined ? now : Math.min(now, ended))
  const end = ended ?? Math.max(now, began)
  if (end < began) return refused('ended_at', 'ends_before_it_began')
  return {
    kind: 'times',
    executingAt: hasExecuted(reported.state) ? isoTime(began) : null,
    endedAt: hasEnded(reported.state) ? isoTime(end) : null,
  }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
