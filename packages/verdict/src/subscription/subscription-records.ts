import { deterministicOrderedId, type ObjectState } from '@backstop/contracts'
import type { EndCause, ObservedSubscription } from '@backstop/providers'
import {
  type ActionRecord,
  type Aspect,
  type CancellationSection,
  type OtherSection,
  type SeenThrough,
  type SubscriptionRecord,
  UNJUDGED,
} from '../case/action-record.ts'
import {
  type Case,
  joinRequestIds,
  replaceAt,
  type SightingSource,
  type Snapshot,
  type SubscriptionRow,
  withAll,
  withConnection,
  withRecord,
} from '../case/case.ts'
import { withoutDenial } from '../case/denial.ts'
import {
  asDetails,
  type KnownDetails,
  mergeDetails,
  originDetails,
  withoutOrigin,
  withoutPersonalData,
} from '../case/details.ts'
import { isPersonalDataExpired } from '../case/erase-personal-data.ts'
import { addSightingToTimeline, addToTimeline, stateOf, timelineEntry } from '../case/timeline.ts'
import { mergeRecords } from '../judge/same-action.ts'
import { READ_DELAY_MS } from './subscription-points.ts'
import { type HistorySection, sectionsOf, withSnapshot } from './subscription-row.ts'

/**
 * If the provider gives no request time, a cancellation may have been requested up to this long before it was first
 * shown.
 */
const MAX_REQUEST_AGE_MS = 24 * 3_600_000
const MAX_EVENT_IDS = 100

/** Adds a snapshot of a subscription, and updates the records that are derived from its row. */
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

/** Updates the records of one row: cancellations and pauses, and their removals. */
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
  const sections = sectionsOf(row, aspect)
  const derived = sections.reduce((next, section) => {
    const kind = kindOfSection(section, aspect)
    return kind === null ? next : deriveRecord(next, row, aspect, section, kind, source, now)
  }, theCase)
  // A gap can turn out to be part of an episode, because the same request was shown again after it. Then its record is
  // merged into the episode's record.
  return derived.actions.reduce((next, record) => {
    const { turn } = record
    if (turn?.row !== row.identity || turn.aspect !== aspect || turn.part !== 'gap') return next
    const holding = sections.filter(section => containsTime(section, turn.anchor))
    if (holding.some(section => section.part === 'gap')) return next
    const [episode] = holding
    const into = episode && next.actions.find(other => isRecordOf(other, row, aspect, episode))
    if (into === undefined) return next
    const merged = mergeRecords(next, into, record, now)
    const joined = merged.actions.find(({ id }) => id === into.id) ?? into
    // The request that ended the gap is not the request that began the episode.
    const { idempotencyKeys, requestIds } = into
    return withRecord(merged, { ...joined, idempotencyKeys, requestIds })
  }, derived)
}

function kindOfSection(
  { part, reached, snapshots }: HistorySection,
  aspect: Aspect,
): SubscriptionRecord['kind'] | null {
  if (part === 'episode') return aspect
  if (reached === null || (aspect === 'pause' && isEndOfSubscription(snapshots[0]))) return null
  return reached === 'set' ? 'schedule_removal' : 'resume'
}

/** True if a pause ended because the subscription did, so that nobody resumed it. */
function isEndOfSubscription(snapshot: Snapshot | undefined): boolean {
  return snapshot?.cancellation.phase === 'executed' && snapshot.before?.pause !== 'none'
}

function containsTime({ from, to }: HistorySection, anchor: number): boolean {
  return from <= anchor && anchor <= to
}

function isRecordOf(
  record: ActionRecord,
  row: SubscriptionRow,
  aspect: Aspect,
  section: HistorySection,
): record is SubscriptionRecord {
  const { turn } = record
  if (turn === null || turn.row !== row.identity || turn.aspect !== aspect || turn.part !== section.part) return false
  return containsTime(section, turn.anchor)
}

function deriveRecord(
  theCase: Case,
  row: SubscriptionRow,
  aspect: Aspect,
  section: HistorySection,
  kind: SubscriptionRecord['kind'],
  source: SightingSource | null,
  now: number,
): Case {
  const [known, ...others] = theCase.actions
    .filter(record => isRecordOf(record, row, aspect, section))
    .sort((a, b) => a.turn.anchor - b.turn.anchor || a.firstSeenAt - b.firstSeenAt)
  // Two records can turn out to be one section, because a snapshot between them shows the request of both.
  const joined = others.reduce((next, other) => mergeRecords(next, known as ActionRecord, other, now), theCase)
  const base =
    joined.actions.filter(isSubscriptionRecord).find(record => record.id === known?.id) ??
    newRecord(joined, row, aspect, section, kind, now)
  const decisive = decisiveSnapshots(section, aspect)
  const { details: _derivedBefore, subscriptionContinues: _alsoDerived, ...kept } = base
  const details = mergeDetails(row.details, detailsOfSection(section))
  const { anchor } = base.turn
  const record: SubscriptionRecord = {
    ...kept,
    kind,
    subject: row.subject,
    objectIds: row.objectIds,
    providerRef: row.subject,
    state: stateOfSection(section, aspect),
    seenThrough: section.snapshots.reduce<readonly SeenThrough[]>(
      (all, snapshot) => snapshot.seenThrough.reduce(withConnection, all),
      base.seenThrough,
    ),
    ...openingRequests(section),
    eventIds: withAll(
      base.eventIds,
      decisive.flatMap(snapshot => snapshot.eventIds),
    ).slice(0, MAX_EVENT_IDS),
    ...(aspect === 'cancellation' && section.part === 'episode'
      ? cancellationFacts(section, base, row)
      : { providerCreatedAt: Math.ceil(section.from), turn: otherSectionOf(row, aspect, section, anchor) }),
    ...(kind === 'cancellation' && section.isOver ? { subscriptionContinues: !section.hasLaterEpisode } : {}),
    ...asDetails(isPersonalDataExpired(base.firstSeenAt, now) ? withoutPersonalData(details) : details),
  }
  if (source === null) return withRecord(joined, record)
  const recorded = addSightingToTimeline(base, withoutDenial(base, record, source), source, now)
  return withRecord(joined, addEndingToTimeline(base, recorded, source, now))
}

/** Adds that a cancellation was taken back or replaced. The event that shows it is about what followed. */
function addEndingToTimeline(
  before: SubscriptionRecord,
  record: ActionRecord,
  { eventId }: SightingSource,
  now: number,
): ActionRecord {
  const { subscriptionContinues } = record
  if (subscriptionContinues === undefined || before.subscriptionContinues === subscriptionContinues) return record
  return addToTimeline(record, timelineEntry(now, 'event_received', eventId, `It was ${stateOf(record)}`))
}

function isSubscriptionRecord(record: ActionRecord): record is SubscriptionRecord {
  return record.turn !== null
}

function otherSectionOf(row: SubscriptionRow, aspect: Aspect, { part }: HistorySection, anchor: number): OtherSection {
  return { row: row.identity, aspect, part, anchor, cause: null, askedFrom: null, wasSetBefore: false }
}

/** The time and the cause of a cancellation. They come from the snapshots that contain a request, if there are any. */
function cancellationFacts(
  section: HistorySection,
  { turn: { anchor }, reason }: SubscriptionRecord,
  row: SubscriptionRow,
): { readonly providerCreatedAt: number; readonly turn: CancellationSection } {
  const requested = causeSnapshots(section).filter(snapshot => snapshot.cancellation.cause === 'requested')
  const relevant = requested.length > 0 ? requested : section.snapshots
  const first = relevant[0]
  // A request that is later than the first snapshot did not cause this end.
  const latest = Math.max(first?.asOf ?? 0, first?.requestReportedAt ?? 0) + READ_DELAY_MS
  const times = relevant.flatMap(requestTimes(relevant)).filter(time => time <= latest)
  const place = { row: row.identity, aspect: 'cancellation', part: 'episode', anchor } as const
  const cause = causeOfEnd(section)
  if (times.length > 0) {
    return { providerCreatedAt: Math.min(...times), turn: { ...place, cause, askedFrom: null, wasSetBefore: false } }
  }
  const shownAt = first?.asOf ?? section.from
  const { phase, effectiveAt, isImmediate } = first?.cancellation ?? { phase: 'none', effectiveAt: null }
  const connectedAt = Math.min(...(first?.seenThrough ?? []).map(connection => connection.createdAt))
  // A backdated end was made after the last snapshot without it, and later than its date if the subscription was changed
  // after the connection was made. Providers give whole seconds.
  // An earlier version may have explained it by its date.
  const isChosen = isImmediate === true && shownAt >= connectedAt && reason !== 'made_before_connection'
  const notBefore = Math.max(section.afterShown ?? 0, isChosen ? connectedAt : 0)
  const isBackdated = effectiveAt !== null && effectiveAt < secondOf(notBefore) * 1000
  const createdAt = phase === 'executed' && !isBackdated ? Math.min(effectiveAt ?? shownAt, shownAt) : shownAt
  const sinceShown = Math.max(Math.min(section.afterShown ?? 0, createdAt), createdAt - MAX_REQUEST_AGE_MS)
  const askedFrom = isImmediate && !isBackdated ? null : sinceShown
  const wasShownUnset = section.afterShown !== null && section.afterShown >= connectedAt
  // The baseline may be read long after the connection was made. A change that an event reported came after that, and a
  // subscription that changed since then may have been given its end since then. The processor's has no version.
  const isOlder = row.provider === 'processor' || secondOf(shownAt) < secondOf(connectedAt)
  const wasSetBefore = first?.isBaseline === true && first.eventIds.length === 0 && !wasShownUnset && isOlder
  return { providerCreatedAt: createdAt, turn: { ...place, cause, askedFrom, wasSetBefore } }
}

/** Providers give whole seconds. */
function secondOf(ms: number): number {
  return Math.floor(ms / 1000)
}

/**
 * The times at which a snapshot says that the end was requested. If an event reports that somebody ended the subscription
 * at once, the time at which an end had been set before is not the time of this request.
 */
function requestTimes(relevant: readonly Snapshot[]): (snapshot: Snapshot) => readonly number[] {
  const isEnded = ({ cancellation }: Snapshot) => cancellation.phase === 'executed'
  const isReported = relevant.some(snapshot => isEnded(snapshot) && snapshot.requestReportedAt !== undefined)
  return snapshot => {
    const { requestReportedAt, cancellation } = snapshot
    if (requestReportedAt !== undefined) return [requestReportedAt]
    return cancellation.requestedAt === null || (isReported && isEnded(snapshot)) ? [] : [cancellation.requestedAt]
  }
}

/**
 * The cause of an end: a request, if any snapshot shows one. If the provider gives no cause, an unscheduled end while a
 * payment is overdue was made by the provider.
 */
function causeOfEnd(section: HistorySection): EndCause {
  const { wasPastDue } = section
  const [first] = section.snapshots
  const isDunning = wasPastDue && first?.cancellation.phase === 'executed' && first.cancellation.requestedAt === null
  const causes = causeSnapshots(section).map(snapshot => snapshot.cancellation.cause)
  if (!isDunning && causes.includes('requested')) return 'requested'
  return isDunning ? 'involuntary' : (causes.findLast(cause => cause !== 'plan_end') ?? 'plan_end')
}

/**
 * The snapshots that show the cause of the end. A schedule that ended together with its subscription does not show it,
 * so only the subscription's snapshots are used then.
 */
function causeSnapshots({ snapshots }: HistorySection): readonly Snapshot[] {
  const isEnded = ({ cancellation }: Snapshot) => cancellation.phase === 'executed'
  const byItself = snapshots.filter(snapshot => snapshot.source?.kind !== 'schedule')
  return byItself.some(isEnded)
    ? snapshots.filter(snapshot => byItself.includes(snapshot) || !isEnded(snapshot))
    : snapshots
}

/** The snapshots whose events belong to the record: the first one, and the one in which the change took effect. */
function decisiveSnapshots({ snapshots, part }: HistorySection, aspect: Aspect): readonly Snapshot[] {
  const first = snapshots.slice(0, 1)
  if (part === 'gap') return first
  const effect = snapshots.find(snapshot => ['executed', 'paused'].includes(snapshot[aspect].phase))
  return effect === undefined || effect === first[0] ? first : [...first, effect]
}

/** The requests that began the section. Later requests do not show who began it. */
function openingRequests({ snapshots }: HistorySection): Pick<SubscriptionRecord, 'idempotencyKeys' | 'requestIds'> {
  const opening = snapshots.filter(snapshot => snapshot.asOf === snapshots[0]?.asOf)
  return {
    idempotencyKeys: opening.flatMap(snapshot => snapshot.idempotencyKeys),
    requestIds: opening.map(snapshot => snapshot.requestIds).reduce(joinRequestIds, undefined),
  }
}

/**
 * The origin of the request that began the section, and the newest reason. Origins of later requests do not show who began
 * it, and neither does a snapshot that only states the phase before.
 */
function detailsOfSection({ snapshots, from }: HistorySection): KnownDetails | undefined {
  const merged = (shown: readonly Snapshot[]) =>
    shown.reduce<KnownDetails | undefined>((all, { details }) => mergeDetails(all, details), undefined)
  const opening = snapshots.filter(({ asOf }) => asOf === from)
  return mergeDetails(withoutOrigin(merged(snapshots)), originDetails(merged(opening)))
}

function stateOfSection({ part, reached, isOver }: HistorySection, aspect: Aspect): ObjectState {
  if (part === 'gap') return 'succeeded'
  if (reached === 'set') return isOver ? 'canceled' : 'scheduled'
  return isOver && aspect === 'cancellation' ? 'reversed' : 'succeeded'
}

function newRecord(
  theCase: Case,
  row: SubscriptionRow,
  aspect: Aspect,
  section: HistorySection,
  kind: SubscriptionRecord['kind'],
  now: number,
): SubscriptionRecord {
  const request = section.part === 'episode' ? (section.snapshots[0]?.[aspect] ?? null) : null
  const requestedAt = request !== null && 'requestedAt' in request ? request.requestedAt : null
  const plain = `${row.identity}/${kind}/${requestedAt ?? Math.ceil(section.from)}`
  const taken = new Set([...theCase.actions, ...theCase.merged.map(({ record }) => record)].map(r => r.identity))
  const identity = taken.has(plain) ? `${plain}/${section.from}` : plain
  return {
    id: deterministicOrderedId('action', section.from, identity),
    identity,
    kind,
    sides: [],
    turn: otherSectionOf(row, aspect, section, section.from),
    provider: row.provider,
    seenThrough: [],
    subject: row.subject,
    objectIds: row.objectIds,
    providerRef: row.subject,
    amount: null,
    currency: null,
    state: 'pending',
    providerCreatedAt: section.from,
    idempotencyKeys: [],
    eventIds: [],
    firstSeenAt: now,
    ...UNJUDGED,
  }
}
