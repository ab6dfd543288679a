import type { ProviderKind } from '@backstop/contracts'
import type { ObservedSubscription } from '@backstop/providers'
import type { Aspect } from '../case/action-record.ts'
import {
  joinRequestIds,
  type SightingSource,
  type Snapshot,
  type SubscriptionRow,
  withAll,
  withConnection,
} from '../case/case.ts'
import { asDetails, detailsOfChange, detailsOfObject, knownDetails, mergeDetails } from '../case/details.ts'
import { type Point, pointsOf } from './subscription-points.ts'

/**
 * Keeps the snapshots of a subscription in order and derives its episodes and gaps. The result does not depend on the
 * order of arrival. A late snapshot may split an episode, but never changes the id of a record.
 */

/**
 * Snapshots that one subscription keeps. The oldest are removed first; records that were derived from them are kept.
 */
const MAX_SNAPSHOTS = 200
/** Late data arrives within days. Until then every snapshot is kept, because a late one may split an episode there. */
const KEEP_ALL_FOR_MS = 7 * 86_400_000
const MAX_EVENTS_PER_SNAPSHOT = 20

/**
 * A part of a subscription's history: an episode (a cancellation or pause that is scheduled or in effect) or the gap
 * after one. Snapshots are in the provider's order. A gap that no snapshot shows has the snapshot that states it.
 */
export interface HistorySection {
  readonly part: 'episode' | 'gap'
  readonly from: number
  readonly to: number
  readonly snapshots: readonly Snapshot[]
  /** The phase that an episode reached, or that a gap ended; null for a gap that ended nothing. */
  readonly reached: 'set' | 'done' | null
  /** The last time before it at which the provider showed another phase; null if there is none. */
  readonly afterShown: number | null
  /** True if the last snapshot before it showed an overdue payment. */
  readonly wasPastDue: boolean
  readonly isOver: boolean
  /** True if another episode follows, directly or after a gap. */
  readonly hasLaterEpisode: boolean
}

/** The row with this snapshot added, or merged into an equal one. */
export function withSnapshot(
  row: SubscriptionRow | undefined,
  sighting: ObservedSubscription,
  source: SightingSource,
): SubscriptionRow {
  const { asOf, cancellation, requestReportedAt, pause } = sighting
  const details = knownDetails(sighting.details, asOf, sighting.provider)
  const seen: Snapshot = {
    asOf,
    cancellation,
    ...asReported(requestReportedAt),
    pause,
    before: sighting.before,
    isBaseline: source.readFor === 'baseline',
    isPastDue: sighting.isPastDue === true,
    ...(sighting.source === undefined ? {} : { source: sighting.source }),
    seenThrough: [source.connection],
    idempotencyKeys: sighting.idempotencyKey === null ? [] : [sighting.idempotencyKey],
    requestIds: sighting.requestId === undefined ? undefined : [sighting.requestId],
    eventIds: source.eventId === null ? [] : [source.eventId],
    ...asDetails(detailsOfChange(details)),
  }
  const known = row?.snapshots ?? []
  const sameIndex = known.findIndex(snapshot => snapshot.asOf === asOf && hasSameContent(snapshot, seen))
  const before = known[sameIndex]
  const snapshots = before === undefined ? [...known, seen] : known.with(sameIndex, withSighting(before, seen))
  return {
    identity: sighting.identity,
    provider: sighting.provider,
    subject: row?.subject ?? sighting.subject,
    objectIds: withAll(row?.objectIds ?? [], sighting.objectIds),
    snapshots: withoutUnchanged(snapshots.toSorted(bySnapshot)).slice(-MAX_SNAPSHOTS),
    ...asDetails(mergeDetails(row?.details, detailsOfObject(details))),
  }
}

/** The row with the snapshots of two rows of one subscription. */
export function mergeRows(a: SubscriptionRow, b: SubscriptionRow): SubscriptionRow {
  const snapshots = [...a.snapshots]
  for (const snapshot of b.snapshots) {
    const sameIndex = snapshots.findIndex(known => known.asOf === snapshot.asOf && hasSameContent(known, snapshot))
    const known = snapshots[sameIndex]
    if (known === undefined) snapshots.push(snapshot)
    else snapshots[sameIndex] = withSighting(known, snapshot)
  }
  return {
    ...a,
    objectIds: withAll(a.objectIds, b.objectIds),
    snapshots: withoutUnchanged(snapshots.toSorted(bySnapshot)).slice(-MAX_SNAPSHOTS),
    ...asDetails(mergeDetails(a.details, b.details)),
  }
}

function withSighting(known: Snapshot, seen: Snapshot): Snapshot {
  return {
    ...known,
    ...asReported(earliest(known.requestReportedAt, seen.requestReportedAt)),
    before: known.before ?? seen.before,
    isBaseline: known.isBaseline || seen.isBaseline,
    seenThrough: seen.seenThrough.reduce(withConnection, known.seenThrough),
    idempotencyKeys: withAll(known.idempotencyKeys, seen.idempotencyKeys),
    requestIds: joinRequestIds(known.requestIds, seen.requestIds),
    eventIds: withAll(known.eventIds, seen.eventIds).slice(0, MAX_EVENTS_PER_SNAPSHOT),
    ...asDetails(mergeDetails(known.details, seen.details)),
  }
}

function asReported(requestReportedAt: number | undefined): Pick<Snapshot, 'requestReportedAt'> {
  return requestReportedAt === undefined ? {} : { requestReportedAt }
}

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

function contentOf({ cancellation, pause, isPastDue, source }: Snapshot): string {
  const { phase, requestedAt, effectiveAt, cause, detail } = cancellation
  const shown = [phase, requestedAt, effectiveAt, cause, detail, pause.phase, pause.effectiveAt, isPastDue]
  return JSON.stringify(source === undefined ? shown : [...shown, source.kind, source.scheduleId])
}

function hasSameContent(a: Snapshot, b: Snapshot): boolean {
  return contentOf(a) === contentOf(b)
}

function bySnapshot(a: Snapshot, b: Snapshot): number {
  return a.asOf - b.asOf || (contentOf(a) < contentOf(b) ? -1 : 1)
}

/**
 * Removes intermediate snapshots that are old and show no change. A subscription changes often in fields that do not
 * matter here.
 */
function withoutUnchanged(sorted: readonly Snapshot[]): readonly Snapshot[] {
  const kept: Snapshot[] = []
  const wholeFrom = (sorted.at(-1)?.asOf ?? 0) - KEEP_ALL_FOR_MS
  for (const snapshot of sorted) {
    const [last, beforeLast] = [kept.at(-1), kept.at(-2)]
    const isMiddle = last !== undefined && beforeLast !== undefined && !showsChange(last)
    if (isMiddle && snapshot.asOf < wholeFrom && hasSameContent(last, snapshot) && hasSameContent(beforeLast, last)) {
      kept[kept.length - 1] = {
        ...withSighting(snapshot, last),
        before: snapshot.before,
        isBaseline: snapshot.isBaseline,
      }
    } else {
      kept.push(snapshot)
    }
  }
  return kept
}

function showsChange({ before, cancellation, pause }: Snapshot): boolean {
  const isOther = (phase: string | null | undefined, now: string) => phase != null && phase !== now
  return isOther(before?.cancellation, cancellation.phase) || isOther(before?.pause, pause.phase)
}

/** A section while it is being built. */
interface OpenSection {
  readonly part: HistorySection['part']
  readonly points: Point[]
  reached: HistorySection['reached']
  /** The end of the section so far. A stale re-read of an earlier request also extends it, but adds no point. */
  to: number
  /** The request times of the earlier cancellations that this one replaced; null if the provider gives no time. */
  readonly replacedRequests: readonly (number | null)[]
}

/**
 * An end that comes at least this much before its scheduled time was made by another request. Providers end
 * subscriptions within minutes of the scheduled time.
 */
const EARLIER_BY_MS = 3_600_000

/**
 * The gaps and episodes of a row for one aspect. Two episodes follow each other directly if one request replaced
 * another.
 */
export function sectionsOf(row: SubscriptionRow, aspect: Aspect): readonly HistorySection[] {
  const runs: OpenSection[] = []
  let left: 'set' | 'done' | null = null
  for (const point of pointsOf(row, aspect)) {
    const last = runs.at(-1)
    if (point.phase === 'none') {
      if (last?.part === 'gap' && left === null) extendSpan(last, point)
      else runs.push(newOpenSpan('gap', point, left ?? (last?.part === 'episode' ? last.reached : null)))
      left = null
    } else if (point.isInferred) {
      left = point.phase
    } else {
      left = null
      const before = runs.findLastIndex(run => run.part === 'episode')
      const episode = runs[before]
      const isSame = last?.part === 'episode' || isSameRequest(episode, point, aspect)
      if (episode === undefined || !isSame) {
        runs.push(newOpenSpan('episode', point, point.phase))
        continue
      }
      const replaces = endsEarlier(episode, point, row.provider) || endsAgain(episode, point, row.provider)
      if (last === episode && aspect === 'cancellation' && replaces) {
        runs.push(newOpenSpan('episode', point, point.phase, [...episode.replacedRequests, ...requestsOf(episode)]))
        continue
      }
      // The same request was shown again, so the gap in between was only data out of order.
      runs.length = before + 1
      extendSpan(episode, point)
      if (point.phase === 'done') episode.reached = 'done'
    }
  }
  let last: Point | undefined
  let clearAt: number | null = null
  return runs.map((run, index) => {
    const section = spanOf(run, last, clearAt, runs.slice(index + 1))
    last = run.points.at(-1)
    clearAt = run.points.findLast(point => point.isUncertain === undefined)?.asOf ?? clearAt
    return section
  })
}

function newOpenSpan(
  part: OpenSection['part'],
  point: Point,
  reached: OpenSection['reached'],
  overtook: OpenSection['replacedRequests'] = [],
): OpenSection {
  const run: OpenSection = { part, points: [], reached, to: point.asOf, replacedRequests: overtook }
  extendSpan(run, point)
  return run
}

function extendSpan(run: OpenSection, point: Point): void {
  run.to = point.asOf
  const { cancellation } = point.snapshot
  const isOfEarlier = cancellation.requestedAt !== null && run.replacedRequests.includes(cancellation.requestedAt)
  if (isOfEarlier && point.phase === 'set') return
  // The biller keeps the request time of a scheduled end, even if another request ends the subscription earlier.
  run.points.push(
    isOfEarlier
      ? {
          ...point,
          snapshot: { ...point.snapshot, cancellation: { ...cancellation, requestedAt: null, isImmediate: true } },
        }
      : point,
  )
}

function requestsOf({ points }: OpenSection): readonly (number | null)[] {
  return points.map(point => point.snapshot.cancellation.requestedAt)
}

/**
 * True if another request ends the subscription earlier than scheduled. The processor changes `canceled_at` with each
 * request, and keeps it when the scheduled end comes. The biller's time is that of the scheduled end. The reseller
 * gives no time.
 */
function endsEarlier({ points }: OpenSection, { asOf, snapshot, phase }: Point, provider: ProviderKind): boolean {
  const [first, last] = [points[0], points.at(-1)]
  if (last?.phase !== 'set' || first === undefined || asOf <= first.asOf) return false
  const [was, is] = [last.snapshot.cancellation, snapshot.cancellation]
  const isSameRequest = was.requestedAt !== null && was.requestedAt === is.requestedAt
  if (isSameRequest && !(phase === 'done' && provider === 'subscription')) return false
  if (was.effectiveAt === null || is.effectiveAt === null) return false
  // The latest scheduled end is compared, so that several small changes also add up.
  const setFor = Math.max(was.effectiveAt, first.snapshot.cancellation.effectiveAt ?? 0)
  return is.effectiveAt <= setFor - EARLIER_BY_MS
}

/**
 * True if the subscription ended once more. The biller never changes the time of an end that took effect, so another time means that
 * the subscription was reactivated in between, although no snapshot shows it: its reading was too late, or failed.
 */
function endsAgain({ points }: OpenSection, { snapshot, phase }: Point, provider: ProviderKind): boolean {
  const last = points.at(-1)
  if (provider !== 'subscription' || last?.phase !== 'done' || phase !== 'done') return false
  const [was, is] = [last.snapshot.cancellation, snapshot.cancellation]
  return was.effectiveAt !== null && is.effectiveAt !== null && was.effectiveAt !== is.effectiveAt
}

/**
 * @param last the last point before the section
 * @param clearAt the last time before it at which the provider showed a certain phase
 */
function spanOf(
  { part, points, reached, to }: OpenSection,
  last: Point | undefined,
  clearAt: number | null,
  later: readonly OpenSection[],
): HistorySection {
  const [next] = later
  return {
    part,
    reached,
    from: points[0]?.asOf ?? 0,
    to: endOf(part, to, next),
    snapshots: points.map(point => point.snapshot),
    afterShown: clearAt,
    wasPastDue: last?.isInferred === false && last.snapshot.isPastDue,
    isOver: next !== undefined,
    hasLaterEpisode: later.some(run => run.part === 'episode'),
  }
}

/**
 * A gap goes on until the next episode, whose first snapshot may state it: a record that was derived from this snapshot alone is a
 * record of the gap.
 */
function endOf(part: OpenSection['part'], to: number, next: OpenSection | undefined): number {
  if (next?.part !== 'episode') return to
  const beforeNext = (next.points[0]?.asOf ?? 0) - 0.5
  return part === 'gap' ? Math.max(to, beforeNext) : Math.min(to, beforeNext)
}

function isSameRequest(episode: OpenSection | undefined, point: Point, aspect: Aspect): boolean {
  if (aspect !== 'cancellation' || episode === undefined) return false
  const { requestedAt } = point.snapshot.cancellation
  return requestedAt !== null && episode.points.some(known => known.snapshot.cancellation.requestedAt === requestedAt)
}
