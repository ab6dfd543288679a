import { type CandidateFailure, hasExecuted, type Operation, type VerdictReason } from '@backstop/contracts'
import type { EndCause } from '@backstop/providers'
import type { ActionRecord, Match } from '../case/action-record.ts'
import { creditNoteIdsOf, madeNotLaterThan, refundIdsOf } from '../case/sides.ts'
import type { Timed } from './pairing.ts'
import { EARLIEST_BEFORE_START_MS, LATEST_AFTER_END_MS, LATEST_WITHOUT_END_MS } from './time-windows.ts'

/** Larger than any distance in time between an operation and an action whose time is known. */
const UNDATED_DISTANCE_MS = 100 * 366 * 86_400_000

/** Why an operation that fits an action does not explain it, because of other actions and operations. */
type FailedAssignment = 'explains_another' | 'other_operation_fits_better' | 'awaits_its_own'

/** Strongest first. Claims are served in this order. */
export const STRENGTHS: readonly Match[] = [
  'provider_ref_matches',
  'request_id_matches',
  'idempotency_key_matches',
  'credit_note_matches',
  'amount_and_time_match',
]

export type ClaimResult =
  | { readonly kind: 'match'; readonly reason: Match; readonly distanceMs: number }
  | { readonly kind: 'no_match'; readonly reason: Contradiction }

/** An operation with its parsed times, in milliseconds since the epoch. */
export interface TimedOperation extends Timed {
  readonly operation: Operation
  /** When the operation began to execute, or when it was reported if it has not executed. */
  readonly at: number
  /** The last time at which the operation can have made an action that it does not name. */
  readonly until: number
}

export function timedOperation(operation: Operation): TimedOperation {
  const at = Date.parse(operation.executing_at ?? operation.created_at)
  const until =
    operation.ended_at === null ? at + LATEST_WITHOUT_END_MS : Date.parse(operation.ended_at) + LATEST_AFTER_END_MS
  return { operation, name: operation.operation_id, at, until }
}

type Contradiction = Exclude<CandidateFailure, FailedAssignment>
type Contradicts = (action: ActionRecord, operation: Operation, timed: TimedOperation) => boolean

/** The facts in which an operation contradicts an action, also one that it names by an id or by its idempotency key. */
const OF_ANY: readonly (readonly [Contradiction, Contradicts])[] = [
  ['operation_did_not_act', (_, { state, executing_at }) => !hasExecuted(state) || executing_at === null],
  ['operation_skipped_approval', (_, { unapproved }) => unapproved != null],
  ['other_kind', (action, operation) => operation.kind !== action.kind || !isAtProviderOf(action, operation)],
  // An operation that names its refund made only that refund, even if other fields match.
  [
    'other_provider_ref',
    (action, operation) =>
      operation.kind === action.kind && namesSingleRefund(action, operation) && !namesThisRefund(action, operation),
  ],
]

/** The facts in which an operation contradicts an action that it does not name. */
const OF_UNNAMED: typeof OF_ANY = [
  ['other_subject', (action, operation) => !paysOut(action, operation) && !namesSubject(action, operation)],
  ['other_amount', (action, operation) => !agreesInAmount(action, operation)],
  ['outside_time_window', (action, _, timed) => !timesOf(action, timed).agree],
]

/**
 * Decides whether, and how strongly, an operation claims to have made an action. The reason of a failure is the first
 * contradiction.
 * @param timed the operation with its parsed times
 */
export function claimResultOf(
  action: ActionRecord,
  operation: Operation,
  timed = timedOperation(operation),
): ClaimResult {
  const holds = ([, contradicts]: (typeof OF_ANY)[number]) => contradicts(action, operation, timed)
  const named = nameOfAction(action, operation)
  const first = OF_ANY.find(holds) ?? (named === undefined ? OF_UNNAMED.find(holds) : undefined)
  if (first !== undefined) return { kind: 'no_match', reason: first[0] }
  const reason = named ?? (paysOut(action, operation) ? 'credit_note_matches' : 'amount_and_time_match')
  return { kind: 'match', reason, distanceMs: timesOf(action, timed).distanceMs }
}

/** Every fact in which an operation contradicts an action. Empty if the operation claims it. */
export function contradictionsOf(
  action: ActionRecord,
  operation: Operation,
  timed: TimedOperation,
): readonly Contradiction[] {
  if (claimResultOf(action, operation, timed).kind === 'match') return []
  return [...OF_ANY, ...OF_UNNAMED]
    .filter(([, contradicts]) => contradicts(action, operation, timed))
    .map(([reason]) => reason)
}

/** The ids of the requests that made an action. */
export function requestIdsOf({ sides, requestIds = [] }: ActionRecord): readonly string[] {
  return [...sides.flatMap(({ requestId }) => requestId ?? []), ...requestIds]
}

/** How the operation names the action itself; undefined if it does not. */
function nameOfAction(action: ActionRecord, operation: Operation): Match | undefined {
  if (namesSingleRefund(action, operation)) {
    return namesThisRefund(action, operation) ? 'provider_ref_matches' : undefined
  }
  const { idempotency_key: key, provider_request_id: requestId } = operation
  if (requestId != null && requestIdsOf(action).includes(requestId)) return 'request_id_matches'
  return key !== null && action.idempotencyKeys.includes(key) ? 'idempotency_key_matches' : undefined
}

function namesThisRefund(action: ActionRecord, { provider_ref }: Operation): boolean {
  return refundIdsOf(action).includes(provider_ref ?? '')
}

function paysOut(action: ActionRecord, { provider_ref }: Operation): boolean {
  return creditNoteIdsOf(action).includes(provider_ref ?? '')
}

function agreesInAmount(action: ActionRecord, operation: Operation): boolean {
  if (operation.kind !== action.kind) return operation.amount === action.amount
  if (action.kind !== 'refund') return true
  // A payment has one currency, so an operation without a currency has the currency of the payment.
  const sameCurrency = operation.currency === null || operation.currency === action.currency
  return sameCurrency && amountFits(action, operation)
}

/**
 * A credit note may be paid out by several refunds, so the amount of a refund may be lower than that of the operation.
 */
function amountFits(action: ActionRecord, operation: Operation): boolean {
  if (!paysOut(action, operation)) return operation.amount === action.amount
  return operation.amount !== null && action.amount !== null && action.amount <= operation.amount
}

/**
 * True if the operation is at a provider of the action. An operation at the gateway also counts if the biller's refund
 * names it.
 */
function isAtProviderOf(action: ActionRecord, operation: Operation): boolean {
  if (action.provider === operation.provider) return true
  if (action.sides.some(side => side.provider === operation.provider)) return true
  return action.sides.some(side => side.gatewayRefs.includes(operation.provider_ref ?? ''))
}

/**
 * True if the operation names a single refund. If it names the payment or a credit note, it does not, because these can
 * be refunded several times.
 */
function namesSingleRefund({ kind, providerRef, objectIds }: ActionRecord, { provider_ref }: Operation): boolean {
  return kind === 'refund' && providerRef !== null && provider_ref !== null && !objectIds.includes(provider_ref)
}

/**
 * True if the operation names the action's payment or subscription. A subscription id does not name a single
 * cancellation.
 */
function namesSubject(action: ActionRecord, operation: Operation): boolean {
  return action.objectIds.includes(operation.subject) || action.objectIds.includes(operation.provider_ref ?? '')
}

/** The time span in which the action was requested, by the provider's data. */
export function requestedBetween({ providerCreatedAt, turn }: ActionRecord): { from: number; to: number } {
  return { from: turn?.askedFrom ?? providerCreatedAt, to: providerCreatedAt }
}

/** Compares the provider's time of the action with the operation's time span. */
function timesOf(action: ActionRecord, { at, until }: TimedOperation) {
  const { from, to } = requestedBetween(action)
  // Providers give whole seconds: an object made 0.9 s into a second has the time of the second's start.
  const earliest = Math.floor((at - EARLIEST_BEFORE_START_MS) / 1000) * 1000
  const since = action.madeFrom ?? from
  const distanceMs = at < from ? from - at : Math.max(0, at - to)
  return {
    agree: earliest <= to && since <= until,
    // Actions with a known time come first.
    distanceMs: since < from ? UNDATED_DISTANCE_MS + distanceMs : distanceMs,
  }
}

/** The evidence in the provider's data that explains the action; null if there is none. */
export function explainedByEvidence(
  action: ActionRecord,
): Extract<VerdictReason, 'made_before_connection' | 'scheduled_before'> | null {
  if (madeBeforeConnection(action)) return 'made_before_connection'
  return action.turn?.wasSetBefore === true ? 'scheduled_before' : null
}

/**
 * True if the action was made before every connection that shows it was made. Times are compared in whole seconds, as
 * the provider gives them. An action in the same second counts as later, and so does a refund with an earlier date that
 * may have been made later.
 */
export function madeBeforeConnection(action: ActionRecord): boolean {
  const madeBy = Math.floor(madeNotLaterThan(action) / 1000)
  return action.seenThrough.every(connection => madeBy < Math.floor(connection.createdAt / 1000))
}

/** The verdict reason for each cause by which the provider ends a subscription itself. */
const PROVIDER_REASONS = {
  involuntary: 'involuntary_end',
  plan_end: 'plan_ended',
  no_payment_method: 'no_payment_method',
  payment_disputed: 'payment_disputed',
  retention_policy: 'retention_policy',
  never_began: 'never_began',
  not_billable: 'not_billable',
} as const satisfies Record<Exclude<EndCause, 'requested'>, VerdictReason>

type ProviderReason = (typeof PROVIDER_REASONS)[keyof typeof PROVIDER_REASONS] | 'authorization_expired'

/**
 * The reason why the provider itself ended a subscription or released an unpaid amount; null if somebody requested it.
 */
export function providerReasonOf({ turn, sides }: Pick<ActionRecord, 'turn' | 'sides'>): ProviderReason | null {
  if (sides.some(side => side.isExpiredAuthorization)) return 'authorization_expired'
  const cause = turn?.cause ?? 'requested'
  return cause === 'requested' ? null : PROVIDER_REASONS[cause]
}

/**
 * True if an operation of this strength may explain the action. An end that the provider causes by itself takes no
 * operation, because the operation set another end. A released authorization takes only an operation that names it.
 */
export function mayTakeOperation(action: ActionRecord, reason: Match): boolean {
  if (providerReasonOf(action) === null) return true
  return action.turn === null && reason !== 'amount_and_time_match'
}

/** True if an action did not alert because the provider made it by itself. */
export function isProviderReason(reason: VerdictReason): boolean {
  return reason === 'authorization_expired' || Object.values<VerdictReason>(PROVIDER_REASONS).includes(reason)
}
