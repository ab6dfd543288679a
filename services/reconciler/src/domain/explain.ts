import { type CandidateFailure, hasExecuted, type Operation, type VerdictReason } from '@backstop/contracts'
import { refundIdsOf } from './sides.ts'
import { type ActionRecord, isJudged } from './subject.ts'

/** How far before its operation began executing, and after it ended, the provider's time of an action may lie. */
export const EARLIEST_BEFORE_START_MS = 2 * 60_000
export const LATEST_AFTER_END_MS = 15 * 60_000
/**
 * How long after its beginning an operation explains what it does not name while nobody reports its end. One whose
 * software died while executing would otherwise explain every like action on its payment for ever.
 */
export const LATEST_WITHOUT_END_MS = 24 * 3_600_000

type Match = Extract<VerdictReason, 'provider_ref_matches' | 'idempotency_key_matches' | 'amount_and_time_match'>

/** Strongest first: the order in which claims are served. */
const STRENGTHS: readonly Match[] = ['provider_ref_matches', 'idempotency_key_matches', 'amount_and_time_match']

export type Claim =
  | { readonly kind: 'match'; readonly reason: Match; readonly distanceMs: number }
  | { readonly kind: 'no_match'; readonly reason: Exclude<CandidateFailure, 'explains_another'> }

/** Whether, and how strongly, an operation claims to have made an action. */
export function claimOf(action: ActionRecord, operation: Operation): Claim {
  const no = (reason: Extract<Claim, { kind: 'no_match' }>['reason']): Claim => ({ kind: 'no_match', reason })
  if (!hasExecuted(operation.state) || operation.executing_at === null) return no('operation_did_not_act')
  if (operation.unapproved != null) return no('operation_skipped_approval')
  if (operation.kind !== action.kind || !isAtProviderOf(action, operation)) return no('other_kind')
  const times = timesOf(action, operation.executing_at, operation.ended_at)
  const match = (reason: Match): Claim => ({ kind: 'match', reason, distanceMs: times.distanceMs })
  if (namesOneRefund(action, operation)) {
    // An operation that names its refund made that one and no other, whatever else agrees.
    return refundIdsOf(action).includes(operation.provider_ref ?? '')
      ? match('provider_ref_matches')
      : no('other_provider_ref')
  }
  if (operation.idempotency_key !== null && action.idempotencyKeys.includes(operation.idempotency_key)) {
    return match('idempotency_key_matches')
  }
  if (!namesSubject(action, operation)) return no('other_subject')
  if (action.kind === 'refund') {
    // A payment has one currency: a report that leaves it out is about that one.
    const sameCurrency = operation.currency === null || operation.currency === action.currency
    if (operation.amount !== action.amount || !sameCurrency) return no('other_amount')
  }
  return times.agree ? match('amount_and_time_match') : no('outside_time_window')
}

/** An operation at the gateway made the refund that the biller tells of, if it names it. */
function isAtProviderOf(action: ActionRecord, operation: Operation): boolean {
  if (action.provider === operation.provider) return true
  if (action.sides.some(side => side.provider === operation.provider)) return true
  return action.sides.some(side => side.gatewayRefs.includes(operation.provider_ref ?? ''))
}

/** What is refunded may be refunded again: an operation that gives the payment or credit note as its object only names that. */
function namesOneRefund({ kind, providerRef, objectIds }: ActionRecord, { provider_ref }: Operation): boolean {
  return kind === 'refund' && providerRef !== null && provider_ref !== null && !objectIds.includes(provider_ref)
}

/** A subscription's id is not the id of one cancellation: an operation that gives it as its object's only names it. */
function namesSubject(action: ActionRecord, operation: Operation): boolean {
  return action.objectIds.includes(operation.subject) || action.objectIds.includes(operation.provider_ref ?? '')
}

/** Whether the provider's time of the action agrees with the operation's, and how far apart they are. */
function timesOf(action: ActionRecord, executingAt: string, endedAt: string | null) {
  const startedAt = Date.parse(executingAt)
  // Providers give whole seconds: an object made 0.9 s into a second carries the second's beginning.
  const earliest = Math.floor((startedAt - EARLIEST_BEFORE_START_MS) / 1000) * 1000
  const latest = endedAt === null ? startedAt + LATEST_WITHOUT_END_MS : Date.parse(endedAt) + LATEST_AFTER_END_MS
  const to = action.providerCreatedAt
  const from = action.turn?.askedFrom ?? to
  const distanceMs = startedAt < from ? from - startedAt : Math.max(0, startedAt - to)
  return { agree: earliest <= to && from <= latest, distanceMs }
}

export interface Assignment {
  readonly operation: Operation
  readonly reason: Match
}

/**
 * Which operation explains which action. Computed anew from all of them, by strength, then distance in time, then the
 * earlier action, then id, so that it does not depend on the order in which they arrived. One operation explains at most
 * one action.
 * @returns by the action's id
 */
export function assignOperations(
  actions: readonly ActionRecord[],
  operations: readonly Operation[],
): ReadonlyMap<string, Assignment> {
  const claims = actions.filter(isJudged).flatMap(action =>
    operations.flatMap(operation => {
      const claim = claimOf(action, operation)
      return claim.kind === 'match' ? [{ action, operation, claim }] : []
    }),
  )
  claims.sort(
    (a, b) =>
      STRENGTHS.indexOf(a.claim.reason) - STRENGTHS.indexOf(b.claim.reason) ||
      a.claim.distanceMs - b.claim.distanceMs ||
      a.action.providerCreatedAt - b.action.providerCreatedAt ||
      compareText(nameOf(a.action), nameOf(b.action)) ||
      compareText(a.operation.operation_id, b.operation.operation_id),
  )
  const assigned = new Map<string, Assignment>()
  const used = new Set<string>()
  for (const { action, operation, claim } of claims) {
    if (assigned.has(action.id) || used.has(operation.operation_id)) continue
    assigned.set(action.id, { operation, reason: claim.reason })
    used.add(operation.operation_id)
  }
  return assigned
}

/** One name, whichever of its objects was seen first. */
function nameOf({ sides, identity }: ActionRecord): string {
  return sides[0]?.identity ?? identity
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** What the provider's own data explains without an operation; null where it explains nothing. */
export function explainedByObservation(
  action: ActionRecord,
): Extract<VerdictReason, 'made_before_connection' | 'scheduled_before'> | null {
  if (madeBeforeConnection(action)) return 'made_before_connection'
  return action.turn?.wasSetBefore === true ? 'scheduled_before' : null
}

/**
 * Whether the provider made the action before every connection that shows it. Compared in whole seconds, as the
 * provider gives them: what was made in the second of the connection counts as after it.
 */
export function madeBeforeConnection(action: ActionRecord): boolean {
  return action.seenThrough.every(
    connection => Math.floor(action.providerCreatedAt / 1000) < Math.floor(connection.createdAt / 1000),
  )
}

/** Why the provider itself ended a subscription; null where somebody asked for it. */
export function endOfItself(action: ActionRecord): Extract<VerdictReason, 'involuntary_end' | 'plan_ended'> | null {
  if (action.turn?.cause === 'involuntary') return 'involuntary_end'
  return action.turn?.cause === 'plan_end' ? 'plan_ended' : null
}
