import type { Operation } from '@backstop/contracts'
import { type ActionRecord, type Match, needsVerdict } from '../case/action-record.ts'
import { creditNoteIdsOf, refundIdsOf } from '../case/sides.ts'
import {
  claimResultOf,
  mayTakeOperation,
  requestedBetween,
  requestIdsOf,
  STRENGTHS,
  type TimedOperation,
  timedOperation,
} from './operation-match.ts'
import { byTime, compareText, nearestFirst, type Pair, pairBestFirst } from './pairing.ts'

export interface Assignment {
  readonly operation: Operation
  readonly reason: Match
}

/** The operation that explains each action, and when to decide again, by the action's id. */
export interface Assignments {
  readonly explained: ReadonlyMap<string, Assignment>
  /**
   * The earliest time at which an operation that matches an alerted action may explain it, in milliseconds since the
   * epoch.
   */
  readonly decideAgainAt: ReadonlyMap<string, number>
}

interface ClaimedPair extends Pair<ActionRecord, Operation> {
  readonly reason: Match
  readonly rank: number
  readonly distanceMs: number
}

/**
 * Assigns operations to actions. Claims are served by strength, then by alerts that were already sent, then by distance
 * in time, then by the earlier action, then by id. One operation explains one action, with one exception: an operation
 * that names a credit note explains as many of its refunds as its amount covers. The result depends on the facts and on
 * the sent alerts, not on the order of arrival (docs/adr/0008).
 */
export function assignOperations(
  actions: readonly ActionRecord[],
  operations: readonly Operation[],
  now: number,
): Assignments {
  const judged = actions.filter(needsVerdict)
  if (judged.length === 0 || operations.length === 0) return { explained: new Map(), decideAgainAt: new Map() }
  const round: AssignmentRun = {
    index: indexByJoinKey(operations),
    now,
    explained: new Map(),
    taken: new Set(),
    waiting: new Map(),
  }
  // Strongest first: each pass assigns only operations and actions that the passes before left.
  assignPairs(judged, ['provider_ref_matches', 'request_id_matches', 'idempotency_key_matches'], round)
  assignCreditNotes(judged, round)
  assignPairs(judged, ['amount_and_time_match'], round)
  const explained = new Map(
    [...round.explained].map(([{ id }, { target, reason }]) => [id, { operation: target, reason }]),
  )
  return { explained, decideAgainAt: timesToDecideAgain(round.waiting, explained, round.taken) }
}

/** The working state of one assignment. */
interface AssignmentRun {
  readonly index: ReadonlyMap<JoinKey, readonly TimedOperation[]>
  readonly now: number
  readonly explained: Map<ActionRecord, ClaimedPair>
  readonly taken: Set<Operation>
  /** The operations that match an alerted action and may explain it later. */
  readonly waiting: Map<ActionRecord, TimedOperation[]>
}

function assignPairs(judged: readonly ActionRecord[], reasons: readonly Match[], round: AssignmentRun): void {
  const left = judged.filter(action => !round.explained.has(action))
  const pairs = pairBestFirst(left, action => bestClaimsOn(action, reasons, round), compareClaims)
  for (const pair of pairs.values()) acceptClaim(pair, round)
}

function acceptClaim(pair: ClaimedPair, { explained, taken }: AssignmentRun): void {
  explained.set(pair.seeker, pair)
  taken.add(pair.target)
}

/**
 * Assigns refunds to operations that name their credit note, best claim first, while the operation's amount covers the
 * sum.
 */
function assignCreditNotes(judged: readonly ActionRecord[], round: AssignmentRun): void {
  const paying = judged.filter(action => creditNoteIdsOf(action).length > 0 && !round.explained.has(action))
  const claims = paying
    .flatMap(action => [...bestClaimsOn(action, ['credit_note_matches'], round)])
    .sort(compareCreditNoteClaims)
  const covered = new Map<Operation, number>()
  for (const claim of claims) {
    const sum = (covered.get(claim.target) ?? 0) + amountUsedBy(claim.seeker)
    if (round.explained.has(claim.seeker) || sum > (claim.target.amount ?? 0)) continue
    covered.set(claim.target, sum)
    acceptClaim(claim, round)
  }
}

/** The part of the operation's amount that a refund uses; 0 if the refund failed, because it may be made again. */
function amountUsedBy({ state, amount }: ActionRecord): number {
  return state === 'failed' || state === 'canceled' || state === 'rejected' ? 0 : (amount ?? 0)
}

function timesToDecideAgain(
  waiting: ReadonlyMap<ActionRecord, readonly TimedOperation[]>,
  explained: Assignments['explained'],
  taken: ReadonlySet<Operation>,
): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const [{ id }, candidates] of waiting) {
    const ends = candidates.filter(({ operation }) => !taken.has(operation)).map(({ until }) => until)
    if (ends.length > 0 && !explained.has(id)) times.set(id, Math.min(...ends))
  }
  return times
}

/**
 * The order of the actions that an operation explains equally well. First (`kept`): the action whose alert this operation
 * resolved. Then (`open`): actions that have not alerted, so that they do not alert. Last (`alerted`): actions that have
 * alerted, even if their alert was resolved by something else than an operation.
 */
const ALERT_RANKS = { kept: 0, open: 1, alerted: 2 } as const

function alertRankOf(action: ActionRecord, operation: Operation): number {
  if (action.verdict === 'unexplained' || isExplainedOtherwise(action)) return ALERT_RANKS.alerted
  return keptOperationId(action) === operation.operation_id ? ALERT_RANKS.kept : ALERT_RANKS.open
}

/**
 * True if the incident of the action was resolved without an operation. A match by amount and time does not replace
 * that explanation.
 */
function isExplainedOtherwise({ verdict, incidents, operationId }: ActionRecord): boolean {
  return incidents.length > 0 && operationId === null && (verdict === 'explained' || verdict === 'not_alerted')
}

/** The operation that explains an action with an incident; it is kept, because people were notified of it. */
function keptOperationId({ verdict, incidents, operationId }: ActionRecord): string | null {
  return verdict === 'explained' && incidents.length > 0 ? operationId : null
}

/**
 * True if the operation's own refund may still arrive. Then a match by amount and time must not resolve an alert,
 * because the action would alert again when that refund arrives and gets the operation.
 */
function isTooEarly({ verdict }: ActionRecord, reason: Match, { until }: TimedOperation, now: number): boolean {
  return verdict === 'unexplained' && reason === 'amount_and_time_match' && now < until
}

/** A value that an operation shares with an action that it made: an id, an id of a request, an idempotency key, an amount or a kind. */
type JoinKey = string | number | null

/** The operations by each value that may join them to an action, in order of time. */
function indexByJoinKey(operations: readonly Operation[]): ReadonlyMap<JoinKey, readonly TimedOperation[]> {
  const index = new Map<JoinKey, TimedOperation[]>()
  for (const timed of operations.map(timedOperation).sort(byTime)) {
    const { provider_ref, provider_request_id, idempotency_key } = timed.operation
    if (provider_ref !== null) addTo(index, provider_ref, timed)
    if (provider_request_id != null) addTo(index, provider_request_id, timed)
    if (idempotency_key !== null) addTo(index, idempotency_key, timed)
    addTo(index, amountOrKind(timed.operation), timed)
  }
  return index
}

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const known = lists.get(key)
  if (known === undefined) lists.set(key, [value])
  else known.push(value)
}

/** The value that must match if the operation does not name the action: the amount of a refund, or else the kind. */
function amountOrKind({ kind, amount }: Pick<ActionRecord, 'kind' | 'amount'>): JoinKey {
  return kind === 'refund' ? amount : kind
}

const JOIN_KEYS: Record<Match, (action: ActionRecord) => readonly JoinKey[]> = {
  provider_ref_matches: refundIdsOf,
  request_id_matches: requestIdsOf,
  idempotency_key_matches: action => action.idempotencyKeys,
  credit_note_matches: creditNoteIdsOf,
  amount_and_time_match: action => [amountOrKind(action)],
}

/**
 * The claims on an action for these reasons: strongest first, then the operation that resolved its alert, then the
 * nearest in time.
 */
function* bestClaimsOn(
  action: ActionRecord,
  reasons: readonly Match[],
  round: AssignmentRun,
): Generator<ClaimedPair, void> {
  const { from, to } = requestedBetween(action)
  for (const reason of reasons) {
    if (!mayTakeOperation(action, reason)) continue
    const candidates = operationsByKeys(JOIN_KEYS[reason](action), round.index)
    for (const timed of keptOperationFirst(action, candidates, nearestFirst(candidates, from, to))) {
      const { operation } = timed
      if (round.taken.has(operation) || (reason === 'amount_and_time_match' && isExplainedOtherwise(action))) continue
      const claim = claimResultOf(action, operation, timed)
      if (claim.kind === 'no_match' || claim.reason !== reason) continue
      if (isTooEarly(action, reason, timed, round.now)) {
        addTo(round.waiting, action, timed)
        continue
      }
      const { distanceMs } = claim
      yield { seeker: action, target: operation, reason, rank: alertRankOf(action, operation), distanceMs }
    }
  }
}

function* keptOperationFirst(
  action: ActionRecord,
  candidates: readonly TimedOperation[],
  nearest: Iterable<TimedOperation>,
): Iterable<TimedOperation> {
  const keptId = keptOperationId(action)
  const kept = keptId === null ? undefined : candidates.find(({ name }) => name === keptId)
  if (kept !== undefined) yield kept
  for (const timed of nearest) if (timed !== kept) yield timed
}

function operationsByKeys(
  joints: readonly JoinKey[],
  index: ReadonlyMap<JoinKey, readonly TimedOperation[]>,
): readonly TimedOperation[] {
  const lists = joints.map(joint => index.get(joint) ?? [])
  return lists.length === 1 ? (lists[0] ?? []) : lists.flat().sort(byTime)
}

/** The order in which claims are served, best first. */
function compareClaims(a: ClaimedPair, b: ClaimedPair): number {
  return (
    STRENGTHS.indexOf(a.reason) - STRENGTHS.indexOf(b.reason) ||
    a.rank - b.rank ||
    a.distanceMs - b.distanceMs ||
    a.seeker.providerCreatedAt - b.seeker.providerCreatedAt ||
    compareText(stableName(a.seeker), stableName(b.seeker)) ||
    compareText(a.target.operation_id, b.target.operation_id)
  )
}

/**
 * Like `compareClaims`, but among claims on a credit note, a refund of the operation's exact amount comes before a
 * nearer one.
 */
function compareCreditNoteClaims(a: ClaimedPair, b: ClaimedPair): number {
  return a.rank - b.rank || Number(isPartialAmount(a)) - Number(isPartialAmount(b)) || compareClaims(a, b)
}

function isPartialAmount({ seeker, target }: ClaimedPair): boolean {
  return seeker.amount !== target.amount
}

/** A name that does not depend on which of the action's objects was seen first. */
function stableName({ sides, identity }: ActionRecord): string {
  return sides[0]?.identity ?? identity
}
