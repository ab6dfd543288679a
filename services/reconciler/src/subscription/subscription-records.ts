import { deterministicId, type ObjectState } from '@backstop/contracts'
import type { EndCause, ObservedSubscription } from '@backstop/providers'
import {
  type ActionRecord,
  type Aspect,
  type CancellationTurn,
  type OtherTurn,
  type SeenThrough,
  type TurnRecord,
  UNJUDGED,
} from '../case/action-record.ts'
import {
  type Case,
  replaceAt,
  type SightingSource,
  type Snapshot,
  type SubscriptionRow,
  withAll,
  withConnection,
  withRecord,
} from '../case/case.ts'
import { withoutDenial } from '../case/denial.ts'
import { addSightingToTimeline } from '../case/timeline.ts'
import { mergeRecords } from '../verdict/same-action.ts'
import { READING_TAKES_MS } from './subscription-points.ts'
import { type Stretch, stretchesOf, withSnapshot } from './subscription-row.ts'

/** How long before it was first shown a cancellation may have been asked for, where the provider does not say. */
const ASKED_UP_TO_MS = 24 * 3_600_000
const MAX_EVENT_IDS = 100

/** The case with one more snapshot of a subscription, and with the records that its row tells of now. */
export function applySubscription(
  theCase: Case,
  sighting: ObservedSubscription,
  source: SightingSource,
  now: number,
): Case {
  const index = theCase.subscriptions.findIndex(row => row.identity === sighting.identity)
  const row = withSnapshot(theCase.subscriptions[index], sighting, source)
  const subscriptions = index < 0 ? [...theCase.subscriptions, row] : replaceAt(theCase.subscriptions, index, row)
  const refs = withAll(theCase.refs, sighting.refs)
  return deriveRecords({ ...theCase, refs, subscriptions }, row, source, now)
}

/** The case with the records of one row: cancellations, pauses, and what took them back. */
export function deriveRecords(theCase: Case, row: SubscriptionRow, source: SightingSource | null, now: number): Case {
  const aspects: readonly Aspect[] = ['cancellation', 'pause']
  return aspects.reduce((next, aspect) => deriveAspect(next, row, aspect, source, now), theCase)
}

function deriveAspect(
  theCase: Case,
  row: SubscriptionRow,
  aspect: Aspect,
  source: SightingSource | null,
  now: number,
): Case {
  const stretches = stretchesOf(row, aspect)
  const derived = stretches.reduce((next, stretch) => {
    const kind = kindOf(stretch, aspect)
    return kind === null ? next : deriveRecord(next, row, aspect, stretch, kind, source, now)
  }, theCase)
  // A gap that an episode took up, because the same request was shown after it again, ended nothing.
  return derived.actions.reduce((next, record) => {
    const { turn } = record
    if (turn?.row !== row.identity || turn.aspect !== aspect || turn.part !== 'gap') return next
    const holding = stretches.filter(stretch => holds(stretch, turn.anchor))
    if (holding.some(stretch => stretch.part === 'gap')) return next
    const [episode] = holding
    const into = episode && next.actions.find(other => isOf(other, row, aspect, episode))
    if (into === undefined) return next
    const merged = mergeRecords(next, into, record, now)
    const joined = merged.actions.find(({ id }) => id === into.id) ?? into
    // The key of the request that ended the gap before it is not the key of the request that opened the episode.
    return withRecord(merged, { ...joined, idempotencyKeys: into.idempotencyKeys })
  }, derived)
}

function kindOf({ part, reached }: Stretch, aspect: Aspect): TurnRecord['kind'] | null {
  if (part === 'episode') return aspect
  if (reached === null) return null
  return reached === 'set' ? 'schedule_removal' : 'resume'
}

function holds({ from, to }: Stretch, anchor: number): boolean {
  return from <= anchor && anchor <= to
}

function isOf(record: ActionRecord, row: SubscriptionRow, aspect: Aspect, stretch: Stretch): record is TurnRecord {
  const { turn } = record
  if (turn === null || turn.row !== row.identity || turn.aspect !== aspect || turn.part !== stretch.part) return false
  return holds(stretch, turn.anchor)
}

function deriveRecord(
  theCase: Case,
  row: SubscriptionRow,
  aspect: Aspect,
  stretch: Stretch,
  kind: TurnRecord['kind'],
  source: SightingSource | null,
  now: number,
): Case {
  const [known, ...others] = theCase.actions
    .filter(record => isOf(record, row, aspect, stretch))
    .sort((a, b) => a.turn.anchor - b.turn.anchor || a.firstSeenAt - b.firstSeenAt)
  // Two that turned out to be one stretch, because a request that both hold was shown in between.
  const joined = others.reduce((next, other) => mergeRecords(next, known as ActionRecord, other, now), theCase)
  const base =
    joined.actions.filter(isTurn).find(record => record.id === known?.id) ??
    newRecord(joined, row, aspect, stretch, kind, now)
  const telling = decisiveSnapshots(stretch, aspect)
  const { anchor } = base.turn
  const record: TurnRecord = {
    ...base,
    kind,
    subject: row.subject,
    objectIds: row.objectIds,
    providerRef: row.subject,
    state: stateOf(stretch, aspect),
    seenThrough: stretch.snapshots.reduce<readonly SeenThrough[]>(
      (all, snapshot) => snapshot.seenThrough.reduce(withConnection, all),
      base.seenThrough,
    ),
    idempotencyKeys: openingKeys(stretch),
    eventIds: withAll(
      base.eventIds,
      telling.flatMap(snapshot => snapshot.eventIds),
    ).slice(0, MAX_EVENT_IDS),
    ...(aspect === 'cancellation' && stretch.part === 'episode'
      ? cancellationFacts(stretch, anchor, row)
      : { providerCreatedAt: Math.ceil(stretch.from), turn: turnOf(row, aspect, stretch, anchor) }),
  }
  if (source === null) return withRecord(joined, record)
  return withRecord(joined, addSightingToTimeline(base, withoutDenial(base, record, source), source, now))
}

function isTurn(record: ActionRecord): record is TurnRecord {
  return record.turn !== null
}

function turnOf(row: SubscriptionRow, aspect: Aspect, { part }: Stretch, anchor: number): OtherTurn {
  return { row: row.identity, aspect, part, anchor, cause: null, askedFrom: null, wasSetBefore: false }
}

/** What says when and why a subscription was cancelled: the snapshots that hold somebody's request, before all others. */
function cancellationFacts(
  stretch: Stretch,
  anchor: number,
  row: SubscriptionRow,
): { readonly providerCreatedAt: number; readonly turn: CancellationTurn } {
  const requested = causeSnapshots(stretch).filter(snapshot => snapshot.cancellation.cause === 'requested')
  const relevant = requested.length > 0 ? requested : stretch.snapshots
  const first = relevant[0]
  // A request that came after the end was shown as set did not set it.
  const latest = (first?.asOf ?? 0) + READING_TAKES_MS
  const times = relevant.flatMap(snapshot => snapshot.cancellation.requestedAt ?? []).filter(time => time <= latest)
  const place = { row: row.identity, aspect: 'cancellation', part: 'episode', anchor } as const
  const cause = causeOf(stretch)
  if (times.length > 0) {
    return { providerCreatedAt: Math.min(...times), turn: { ...place, cause, askedFrom: null, wasSetBefore: false } }
  }
  const shownAt = first?.asOf ?? stretch.from
  const { phase, effectiveAt, isImmediate } = first?.cancellation ?? { phase: 'none', effectiveAt: null }
  // An end that was backdated came after the subscription was shown without it; providers give it in whole seconds.
  const isBackdated = effectiveAt !== null && effectiveAt < Math.floor((stretch.afterShown ?? 0) / 1000) * 1000
  const createdAt = phase === 'executed' && !isBackdated ? Math.min(effectiveAt ?? shownAt, shownAt) : shownAt
  const sinceShown = Math.max(Math.min(stretch.afterShown ?? 0, createdAt), createdAt - ASKED_UP_TO_MS)
  const askedFrom = isImmediate && !isBackdated ? null : sinceShown
  const connectedAt = Math.min(...(first?.seenThrough ?? []).map(connection => connection.createdAt))
  const wasShownUnset = stretch.afterShown !== null && stretch.afterShown >= connectedAt
  // A baseline may be read long after the connection was made: what an event told in between came about since.
  const wasSetBefore = first?.isBaseline === true && first.eventIds.length === 0 && !wasShownUnset
  return { providerCreatedAt: createdAt, turn: { ...place, cause, askedFrom, wasSetBefore } }
}

/**
 * Why it ends: by a request, if any snapshot says so. Where the provider never says why, an end that was not set before
 * and comes while a payment is late is its own.
 */
function causeOf(stretch: Stretch): EndCause {
  const { wasPastDue } = stretch
  const [first] = stretch.snapshots
  const isDunning = wasPastDue && first?.cancellation.phase === 'executed' && first.cancellation.requestedAt === null
  const causes = causeSnapshots(stretch).map(snapshot => snapshot.cancellation.cause)
  if (!isDunning && causes.includes('requested')) return 'requested'
  return isDunning ? 'involuntary' : (causes.findLast(cause => cause !== 'plan_end') ?? 'plan_end')
}

/** The snapshots that say why it ends. A schedule that was ended with its subscription does not: the subscription itself does. */
function causeSnapshots({ snapshots }: Stretch): readonly Snapshot[] {
  const isEnded = ({ cancellation }: Snapshot) => cancellation.phase === 'executed'
  const byItself = snapshots.filter(snapshot => snapshot.source?.kind !== 'schedule')
  return byItself.some(isEnded)
    ? snapshots.filter(snapshot => byItself.includes(snapshot) || !isEnded(snapshot))
    : snapshots
}

/** The snapshots that an event has to show to be one of the stretch: its beginning, and when it took effect. */
function decisiveSnapshots({ snapshots, part }: Stretch, aspect: Aspect): readonly Snapshot[] {
  const first = snapshots.slice(0, 1)
  if (part === 'gap') return first
  const effect = snapshots.find(snapshot => ['executed', 'paused'].includes(snapshot[aspect].phase))
  return effect === undefined || effect === first[0] ? first : [...first, effect]
}

/** Keys of the requests that opened it: a later request's key says nothing of who did. */
function openingKeys({ snapshots }: Stretch): readonly string[] {
  const opening = snapshots.filter(snapshot => snapshot.asOf === snapshots[0]?.asOf)
  return opening.flatMap(snapshot => snapshot.idempotencyKeys)
}

function stateOf({ part, reached, isOver }: Stretch, aspect: Aspect): ObjectState {
  if (part === 'gap') return 'succeeded'
  if (reached === 'set') return isOver ? 'canceled' : 'scheduled'
  return isOver && aspect === 'cancellation' ? 'reversed' : 'succeeded'
}

function newRecord(
  theCase: Case,
  row: SubscriptionRow,
  aspect: Aspect,
  stretch: Stretch,
  kind: TurnRecord['kind'],
  now: number,
): TurnRecord {
  const request = stretch.part === 'episode' ? (stretch.snapshots[0]?.[aspect] ?? null) : null
  const requestedAt = request !== null && 'requestedAt' in request ? request.requestedAt : null
  const plain = `${row.identity}/${kind}/${requestedAt ?? Math.ceil(stretch.from)}`
  const taken = new Set([...theCase.actions, ...theCase.merged.map(({ record }) => record)].map(r => r.identity))
  const identity = taken.has(plain) ? `${plain}/${stretch.from}` : plain
  return {
    id: deterministicId('action', identity),
    identity,
    kind,
    sides: [],
    turn: turnOf(row, aspect, stretch, stretch.from),
    provider: row.provider,
    seenThrough: [],
    subject: row.subject,
    objectIds: row.objectIds,
    providerRef: row.subject,
    amount: null,
    currency: null,
    state: 'pending',
    providerCreatedAt: stretch.from,
    idempotencyKeys: [],
    eventIds: [],
    firstSeenAt: now,
    ...UNJUDGED,
  }
}
