import { hasExecuted, type Operation, type VerdictReason } from '@backstop/contracts'
import type { ActionRecord } from './subject.ts'

/** How far before its operation began executing, and after it ended, the provider's time of an action may lie. */
export const EARLIEST_BEFORE_START_MS = 2 * 60_000
export const LATEST_AFTER_END_MS = 15 * 60_000

type Match = Extract<VerdictReason, 'provider_ref_matches' | 'idempotency_key_matches' | 'amount_and_time_match'>

/** Strongest first: the order in which claims are served. */
const STRENGTHS: readonly Match[] = ['provider_ref_matches', 'idempotency_key_matches', 'amount_and_time_match']

export type Claim =
  | { readonly kind: 'match'; readonly reason: Match; readonly distanceMs: number }
  | { readonly kind: 'no_match'; readonly reason: NoMatch }

/** Why an operation does not explain an action, for whoever asks about the verdict. */
export type NoMatch =
  | 'operation_did_not_act'
  | 'other_kind'
  | 'other_provider_ref'
  | 'other_subject'
  | 'other_amount'
  | 'outside_time_window'

/** Whether, and how strongly, an operation claims to have made an action. */
export function claimOf(action: ActionRecord, operation: Operation): Claim {
  const no = (reason: NoMatch): Claim => ({ kind: 'no_match', reason })
  if (!hasExecuted(operation.state) || operation.executing_at === null) return no('operation_did_not_act')
  if (operation.kind !== action.kind || operation.provider !== action.provider) return no('other_kind')
  const startedAt = Date.parse(operation.executing_at)
  const match = (reason: Match): Claim => {
    return { kind: 'match', reason, distanceMs: Math.abs(action.providerCreatedAt - startedAt) }
  }
  if (operation.provider_ref !== null && action.providerRef !== null) {
    // An operation that names its refund made that one and no other, whatever else agrees.
    return operation.provider_ref === action.providerRef ? match('provider_ref_matches') : no('other_provider_ref')
  }
  if (operation.idempotency_key !== null && action.idempotencyKeys.includes(operation.idempotency_key)) {
    return match('idempotency_key_matches')
  }
  if (!action.objectIds.includes(operation.subject)) return no('other_subject')
  // A payment has one currency: a report that leaves it out is about that one.
  const sameCurrency = operation.currency === null || operation.currency === action.currency
  if (operation.amount !== action.amount || !sameCurrency) return no('other_amount')
  // Providers give whole seconds: an object made 0.9 s into a second carries the second's beginning.
  const earliest = Math.floor((startedAt - EARLIEST_BEFORE_START_MS) / 1000) * 1000
  const latest = operation.ended_at === null ? Infinity : Date.parse(operation.ended_at) + LATEST_AFTER_END_MS
  const inWindow = earliest <= action.providerCreatedAt && action.providerCreatedAt <= latest
  return inWindow ? match('amount_and_time_match') : no('outside_time_window')
}

export interface Assignment {
  readonly operation: Operation
  readonly reason: Match
}

/**
 * Which operation explains which action. Computed anew from all of them, by strength, then distance in time, then id, so
 * that it does not depend on the order in which they arrived. One operation explains at most one action.
 * @returns by the action's id
 */
export function assignOperations(
  actions: readonly ActionRecord[],
  operations: readonly Operation[],
): ReadonlyMap<string, Assignment> {
  const claims = actions.flatMap(action =>
    operations.flatMap(operation => {
      const claim = claimOf(action, operation)
      return claim.kind === 'match' ? [{ action, operation, claim }] : []
    }),
  )
  claims.sort(
    (a, b) =>
      STRENGTHS.indexOf(a.claim.reason) - STRENGTHS.indexOf(b.claim.reason) ||
      a.claim.distanceMs - b.claim.distanceMs ||
      compareText(a.action.identity, b.action.identity) ||
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

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
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
