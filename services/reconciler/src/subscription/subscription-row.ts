import type { ProviderKind } from '@backstop/contracts'
import type { ObservedSubscription } from '@backstop/providers'
import type { Aspect } from '../case/action-record.ts'
import { type SightingSource, type Snapshot, type SubscriptionRow, withAll, withConnection } from '../case/case.ts'
import { type Point, pointsOf } from './subscription-points.ts'

/**
 * The row of a subscription's snapshots, and the turns read off it. What the row says does not depend on the order in
 * which its snapshots came; one that comes late may split a turn, and never renames one.
 */

/** Snapshots of one subscription that are kept; the oldest go first, and what they showed stays as it was recorded. */
const MAX_SNAPSHOTS = 200
/** What is told late is told within days: until then every snapshot may turn out to part two turns. */
const WHOLE_FOR_MS = 7 * 86_400_000
const MAX_EVENTS_PER_SNAPSHOT = 20

/**
 * A stretch of one phase or more. Its snapshots are in the provider's order; a gap that nobody showed has the one that
 * says that it was.
 */
export interface Stretch {
  readonly part: 'episode' | 'gap'
  readonly from: number
  readonly to: number
  readonly snapshots: readonly Snapshot[]
  /** How far an episode got, or what a gap ended; null for a gap that ended nothing. */
  readonly reached: 'set' | 'done' | null
  /** The last moment before it at which the provider showed another phase; null where nothing did. */
  readonly afterShown: number | null
  /** Whether what it showed until then was that a payment is late. */
  readonly wasPastDue: boolean
  /** Whether another stretch followed. */
  readonly isOver: boolean
}

/** The row with one more snapshot, and that snapshot as it is kept there. */
export function withSnapshot(
  row: SubscriptionRow | undefined,
  sighting: ObservedSubscription,
  source: SightingSource,
): SubscriptionRow {
  const { asOf, cancellation, pause } = sighting
  const seen: Snapshot = {
    asOf,
    cancellation,
    pause,
    before: sighting.before,
    isBaseline: source.reading === 'baseline',
    isPastDue: sighting.isPastDue === true,
    ...(sighting.source === undefined ? {} : { source: sighting.source }),
    seenThrough: [source.connection],
    idempotencyKeys: sighting.idempotencyKey === null ? [] : [sighting.idempotencyKey],
    eventIds: source.eventId === null ? [] : [source.eventId],
  }
  const known = row?.snapshots ?? []
  const twin = known.findIndex(snapshot => snapshot.asOf === asOf && hasSameContent(snapshot, seen))
  const before = known[twin]
  const snapshots = before === undefined ? [...known, seen] : known.with(twin, withSighting(before, seen))
  return {
    identity: sighting.identity,
    provider: sighting.provider,
    subject: row?.subject ?? sighting.subject,
    objectIds: withAll(row?.objectIds ?? [], sighting.objectIds),
    snapshots: compressed(snapshots.toSorted(bySnapshot)).slice(-MAX_SNAPSHOTS),
  }
}

/** Everything of both rows of one subscription. */
export function mergeRows(a: SubscriptionRow, b: SubscriptionRow): SubscriptionRow {
  const snapshots = [...a.snapshots]
  for (const snapshot of b.snapshots) {
    const twin = snapshots.findIndex(known => known.asOf === snapshot.asOf && hasSameContent(known, snapshot))
    const known = snapshots[twin]
    if (known === undefined) snapshots.push(snapshot)
    else snapshots[twin] = withSighting(known, snapshot)
  }
  return {
    ...a,
    objectIds: withAll(a.objectIds, b.objectIds),
    snapshots: compressed(snapshots.toSorted(bySnapshot)).slice(-MAX_SNAPSHOTS),
  }
}

function withSighting(known: Snapshot, seen: Snapshot): Snapshot {
  return {
    ...known,
    before: known.before ?? seen.before,
    isBaseline: known.isBaseline || seen.isBaseline,
    seenThrough: seen.seenThrough.reduce(withConnection, known.seenThrough),
    idempotencyKeys: withAll(known.idempotencyKeys, seen.idempotencyKeys),
    eventIds: withAll(known.eventIds, seen.eventIds).slice(0, MAX_EVENTS_PER_SNAPSHOT),
  }
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

/** Without the middle of what stood still long ago: a subscription changes often in what does not matter here. */
function compressed(sorted: readonly Snapshot[]): readonly Snapshot[] {
  const kept: Snapshot[] = []
  const wholeFrom = (sorted.at(-1)?.asOf ?? 0) - WHOLE_FOR_MS
  for (const snapshot of sorted) {
    const [last, beforeLast] = [kept.at(-1), kept.at(-2)]
    const isMiddle = last !== undefined && beforeLast !== undefined && !statesChange(last)
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

function statesChange({ before, cancellation, pause }: Snapshot): boolean {
  const isOther = (phase: string | null | undefined, now: string) => phase != null && phase !== now
  return isOther(before?.cancellation, cancellation.phase) || isOther(before?.pause, pause.phase)
}

/** A stretch while it is read off the row. */
interface OpenStretch {
  readonly part: Stretch['part']
  readonly points: Point[]
  reached: Stretch['reached']
  /** Until when it stood: what a stale reading showed of an earlier request counts as seen, and says nothing. */
  to: number
  /** When the requests were made that its own overtook, as far as the provider says. */
  readonly replacedRequests: readonly (number | null)[]
}

/** An end that comes this much before the time that was set, or more, is another request's: providers are punctual to minutes. */
const FORWARD_BY_MS = 3_600_000

/** The row as one aspect sees it: gaps and episodes. Two episodes follow one another where a request was overtaken by another. */
export function stretchesOf(row: SubscriptionRow, aspect: Aspect): readonly Stretch[] {
  const runs: OpenStretch[] = []
  let left: 'set' | 'done' | null = null
  for (const point of pointsOf(row, aspect)) {
    const last = runs.at(-1)
    if (point.phase === 'none') {
      if (last?.part === 'gap' && left === null) extend(last, point)
      else runs.push(newOpenStretch('gap', point, left ?? (last?.part === 'episode' ? last.reached : null)))
      left = null
    } else if (point.isInferred) {
      left = point.phase
    } else {
      left = null
      const before = runs.findLastIndex(run => run.part === 'episode')
      const episode = runs[before]
      const isSame = last?.part === 'episode' || sameRequest(episode, point, aspect)
      if (episode === undefined || !isSame) {
        runs.push(newOpenStretch('episode', point, point.phase))
        continue
      }
      if (last === episode && aspect === 'cancellation' && bringsForward(episode, point, row.provider)) {
        runs.push(newOpenStretch('episode', point, point.phase, [...episode.replacedRequests, ...requestsOf(episode)]))
        continue
      }
      // The same request again: what stood in between was shown out of order.
      runs.length = before + 1
      extend(episode, point)
      if (point.phase === 'done') episode.reached = 'done'
    }
  }
  let last: Point | undefined
  let clearAt: number | null = null
  return runs.map((run, index) => {
    const stretch = stretchOf(run, last, clearAt, runs[index + 1])
    last = run.points.at(-1)
    clearAt = run.points.findLast(point => point.isUncertain === undefined)?.asOf ?? clearAt
    return stretch
  })
}

function newOpenStretch(
  part: OpenStretch['part'],
  point: Point,
  reached: OpenStretch['reached'],
  overtook: OpenStretch['replacedRequests'] = [],
): OpenStretch {
  const run: OpenStretch = { part, points: [], reached, to: point.asOf, replacedRequests: overtook }
  extend(run, point)
  return run
}

function extend(run: OpenStretch, point: Point): void {
  run.to = point.asOf
  const { cancellation } = point.snapshot
  const isOfEarlier = cancellation.requestedAt !== null && run.replacedRequests.includes(cancellation.requestedAt)
  if (isOfEarlier && point.phase === 'set') return
  // The biller keeps the time at which an end was set also when another request ends the subscription.
  run.points.push(
    isOfEarlier
      ? {
          ...point,
          snapshot: { ...point.snapshot, cancellation: { ...cancellation, requestedAt: null, isImmediate: true } },
        }
      : point,
  )
}

function requestsOf({ points }: OpenStretch): readonly (number | null)[] {
  return points.map(point => point.snapshot.cancellation.requestedAt)
}

/**
 * Whether another request ends the subscription sooner than was set. The processor moves `canceled_at` with each request, and keeps
 * it when the set end comes. At the biller the time belongs to what was set; the reseller gives none.
 */
function bringsForward({ points }: OpenStretch, { asOf, snapshot, phase }: Point, provider: ProviderKind): boolean {
  const [first, last] = [points[0], points.at(-1)]
  if (last?.phase !== 'set' || first === undefined || asOf <= first.asOf) return false
  const [was, is] = [last.snapshot.cancellation, snapshot.cancellation]
  const isSameRequest = was.requestedAt !== null && was.requestedAt === is.requestedAt
  if (isSameRequest && !(phase === 'done' && provider === 'subscription')) return false
  if (was.effectiveAt === null || is.effectiveAt === null) return false
  // Also by many small steps, each of which is too short to count.
  const setFor = Math.max(was.effectiveAt, first.snapshot.cancellation.effectiveAt ?? 0)
  return is.effectiveAt <= setFor - FORWARD_BY_MS
}

/**
 * @param last the last point before it
 * @param clearAt when the provider last showed something for certain before it
 */
function stretchOf(
  { part, points, reached, to }: OpenStretch,
  last: Point | undefined,
  clearAt: number | null,
  next: OpenStretch | undefined,
): Stretch {
  return {
    part,
    reached,
    from: points[0]?.asOf ?? 0,
    to: part === 'episode' && next?.part === 'episode' ? Math.min(to, (next.points[0]?.asOf ?? 0) - 0.5) : to,
    snapshots: points.map(point => point.snapshot),
    afterShown: clearAt,
    wasPastDue: last?.isInferred === false && last.snapshot.isPastDue,
    isOver: next !== undefined,
  }
}

function sameRequest(episode: OpenStretch | undefined, point: Point, aspect: Aspect): boolean {
  if (aspect !== 'cancellation' || episode === undefined) return false
  const { requestedAt } = point.snapshot.cancellation
  return requestedAt !== null && episode.points.some(known => known.snapshot.cancellation.requestedAt === requestedAt)
}
