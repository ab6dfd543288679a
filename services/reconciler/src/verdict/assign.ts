import type { Operation } from '@backstop/contracts'
import { type ActionRecord, isJudged } from '../case/action-record.ts'
import { byTime, compareText, nearestFirst, type Pair, pairUp } from '../case/pairing.ts'
import { creditNoteIdsOf, refundIdsOf } from '../case/sides.ts'
import { claimOf, type Match, madeWithin, STRENGTHS, type TimedOperation, timedOperation } from './explain.ts'

export interface Assignment {
  readonly operation: Operation
  readonly reason: Match
}

/** Which operation explains which action, and when that is to be decided again. By the action's id. */
export interface Assignments {
  readonly explained: ReadonlyMap<string, Assignment>
  /** The earliest moment at which an operation that agrees with an alerted action may explain it. */
  readonly decideAgainAt: ReadonlyMap<string, number>
}

interface ClaimedPair extends Pair<ActionRecord, Operation> {
  readonly reason: Match
  readonly rank: number
  readonly distanceMs: number
}

/**
 * Assigns operations to actions: by strength, then by what people were notified of, then by distance in time, then the earlier
 * action, then id. One operation explains one action, but for refunds that pay out the credit note that it names: it explains
 * as many of them as its amount covers, one of exactly its amount first. The result depends on the facts and on what people were
 * notified of, and not on the order in which the facts arrived (docs/adr/0008).
 */
export function assignOperations(
  actions: readonly ActionRecord[],
  operations: readonly Operation[],
  now: number,
): Assignments {
  const judged = actions.filter(isJudged)
  if (judged.length === 0 || operations.length === 0) return { explained: new Map(), decideAgainAt: new Map() }
  const round: AssignmentRun = {
    index: indexByJoinKey(operations),
    now,
    explained: new Map(),
    taken: new Set(),
    waiting: new Map(),
  }
  // Strongest first, so each pass serves what the stronger ones left.
  pairOff(judged, ['provider_ref_matches', 'idempotency_key_matches'], round)
  shareCreditNotes(judged, round)
  pairOff(judged, ['amount_and_time_match'], round)
  const explained = new Map(
    [...round.explained].map(([{ id }, { target, reason }]) => [id, { operation: target, reason }]),
  )
  return { explained, decideAgainAt: timesToDecideAgain(round.waiting, explained, round.taken) }
}

/** What one assignment works on. */
interface AssignmentRun {
  readonly index: ReadonlyMap<JoinKey, readonly TimedOperation[]>
  readonly now: number
  readonly explained: Map<ActionRecord, ClaimedPair>
  readonly taken: Set<Operation>
  /** The operations that agree with an alerted action and may explain it later. */
  readonly waiting: Map<ActionRecord, TimedOperation[]>
}

function pairOff(judged: readonly ActionRecord[], reasons: readonly Match[], round: AssignmentRun): void {
  const left = judged.filter(action => !round.explained.has(action))
  const pairs = pairUp(left, action => claimsOn(action, reasons, round), compareClaims)
  for (const pair of pairs.values()) accept(pair, round)
}

function accept(pair: ClaimedPair, { explained, taken }: AssignmentRun): void {
  explained.set(pair.seeker, pair)
  taken.add(pair.target)
}

/** The best claims first, each refund as long as the amount of its operation covers it together with those before it. */
function shareCreditNotes(judged: readonly ActionRecord[], round: AssignmentRun): void {
  const paying = judged.filter(action => creditNoteIdsOf(action).length > 0 && !round.explained.has(action))
  const claims = paying.flatMap(action => [...claimsOn(action, ['credit_note_matches'], round)]).sort(compareShares)
  const covered = new Map<Operation, number>()
  for (const claim of claims) {
    const sum = (covered.get(claim.target) ?? 0) + amountUsedBy(claim.seeker)
    if (round.explained.has(claim.seeker) || sum > (claim.target.amount ?? 0)) continue
    covered.set(claim.target, sum)
    accept(claim, round)
  }
}

/** What a refund counts against the amount of its operation: nothing where it came to nothing, so it may be made again. */
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
 * What people were notified of decides between claims of one strength, so that one action alerts once: an explanation that
 * they heard of stays, and an action that alerted comes last, even after something else than an operation resolved its alert.
 */
const RANKS = { kept: 0, open: 1, alerted: 2 } as const

function rankOf(action: ActionRecord, operation: Operation): number {
  if (action.verdict === 'unexplained' || isExplainedOtherwise(action)) return RANKS.alerted
  return keptOperationId(action) === operation.operation_id ? RANKS.kept : RANKS.open
}

/** Whether people heard that something else than an operation explains the action: no guess replaces that. */
function isExplainedOtherwise({ verdict, incidents, operationId }: ActionRecord): boolean {
  return incidents.length > 0 && operationId === null && (verdict === 'explained' || verdict === 'not_alerted')
}

/** The operation that explains an action which has or had an incident: people were notified of it. */
function keptOperationId({ verdict, incidents, operationId }: ActionRecord): string | null {
  return verdict === 'explained' && incidents.length > 0 ? operationId : null
}

/**
 * Whether the operation's own refund may still arrive, so that a match by amount and time must not resolve what has alerted:
 * it would alert again once that refund takes the operation.
 */
function isPremature({ verdict }: ActionRecord, reason: Match, { until }: TimedOperation, now: number): boolean {
  return verdict === 'unexplained' && reason === 'amount_and_time_match' && now < until
}

/** What an operation and an action have in common where the one made the other: an id, a key, or an amount. */
type JoinKey = string | number | null

/** The operations under all that may join them to an action, in order of time. */
function indexByJoinKey(operations: readonly Operation[]): ReadonlyMap<JoinKey, readonly TimedOperation[]> {
  const index = new Map<JoinKey, TimedOperation[]>()
  for (const timed of operations.map(timedOperation).sort(byTime)) {
    const { provider_ref, idempotency_key } = timed.operation
    if (provider_ref !== null) addTo(index, provider_ref, timed)
    if (idempotency_key !== null) addTo(index, idempotency_key, timed)
    addTo(index, likenessOf(timed.operation), timed)
  }
  return index
}

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const known = lists.get(key)
  if (known === undefined) lists.set(key, [value])
  else known.push(value)
}

/** What has to be the same where nothing names the other: of refunds the amount. */
function likenessOf({ kind, amount }: Pick<ActionRecord, 'kind' | 'amount'>): JoinKey {
  return kind === 'refund' ? amount : kind
}

const JOIN_KEYS: Record<Match, (action: ActionRecord) => readonly JoinKey[]> = {
  provider_ref_matches: refundIdsOf,
  idempotency_key_matches: action => action.idempotencyKeys,
  credit_note_matches: creditNoteIdsOf,
  amount_and_time_match: action => [likenessOf(action)],
}

/** The claims on an action for these reasons: the strongest first, of these what people heard of, and then the nearest in time. */
function* claimsOn(
  action: ActionRecord,
  reasons: readonly Match[],
  round: AssignmentRun,
): Generator<ClaimedPair, void> {
  const { from, to } = madeWithin(action)
  for (const reason of reasons) {
    const candidates = operationsUnder(JOIN_KEYS[reason](action), round.index)
    for (const timed of keptFirst(action, candidates, nearestFirst(candidates, from, to))) {
      const { operation } = timed
      if (round.taken.has(operation) || (reason === 'amount_and_time_match' && isExplainedOtherwise(action))) continue
      const claim = claimOf(action, operation, timed)
      if (claim.kind === 'no_match' || claim.reason !== reason) continue
      if (isPremature(action, reason, timed, round.now)) {
        addTo(round.waiting, action, timed)
        continue
      }
      const { distanceMs } = claim
      yield { seeker: action, target: operation, reason, rank: rankOf(action, operation), distanceMs }
    }
  }
}

function* keptFirst(
  action: ActionRecord,
  candidates: readonly TimedOperation[],
  nearest: Iterable<TimedOperation>,
): Iterable<TimedOperation> {
  const keptId = keptOperationId(action)
  const kept = keptId === null ? undefined : candidates.find(({ name }) => name === keptId)
  if (kept !== undefined) yield kept
  for (const timed of nearest) if (timed !== kept) yield timed
}

function operationsUnder(
  joints: readonly JoinKey[],
  index: ReadonlyMap<JoinKey, readonly TimedOperation[]>,
): readonly TimedOperation[] {
  const lists = joints.map(joint => index.get(joint) ?? [])
  return lists.length === 1 ? (lists[0] ?? []) : lists.flat().sort(byTime)
}

/** The order in which claims are served. */
function compareClaims(a: ClaimedPair, b: ClaimedPair): number {
  return (
    STRENGTHS.indexOf(a.reason) - STRENGTHS.indexOf(b.reason) ||
    a.rank - b.rank ||
    a.distanceMs - b.distanceMs ||
    a.seeker.providerCreatedAt - b.seeker.providerCreatedAt ||
    compareText(nameOf(a.seeker), nameOf(b.seeker)) ||
    compareText(a.target.operation_id, b.target.operation_id)
  )
}

/** As `compareClaims`, but that of two claims on one credit note the one for exactly the operation's amount is likelier than a nearer one. */
function compareShares(a: ClaimedPair, b: ClaimedPair): number {
  return a.rank - b.rank || Number(isPart(a)) - Number(isPart(b)) || compareClaims(a, b)
}

function isPart({ seeker, target }: ClaimedPair): boolean {
  return seeker.amount !== target.amount
}

/** One name, whichever of its objects was seen first. */
function nameOf({ sides, identity }: ActionRecord): string {
  return sides[0]?.identity ?? identity
}
