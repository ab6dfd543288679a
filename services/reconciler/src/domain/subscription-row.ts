import type { ObservedSubscription } from '@backstop/providers'
import { type Aspect, type Sighting, type Snapshot, type SubscriptionRow, withAll, withConnection } from './subject.ts'

/**
 * The row of a subscription's snapshots, and the turns read off it. What the row says does not depend on the order in
 * which its snapshots came; one that comes late may split a turn, and never renames one.
 */

/** Snapshots of one subscription that are kept; the oldest go first, and what they showed stays as it was recorded. */
const MAX_SNAPSHOTS = 200
/** What is told late is told within days: until then every snapshot may turn out to part two turns. */
const WHOLE_FOR_MS = 7 * 86_400_000
const MAX_EVENTS_PER_SNAPSHOT = 20

/** A reading carries the time at which its page was asked for; what is on the page may be read so much later. */
const READING_TAKES_MS = 60_000

/** none: runs on. set: for later. done: in effect. */
type Phase = 'none' | 'set' | 'done'

interface Point {
  readonly asOf: number
  readonly phase: Phase
  readonly snapshot: Snapshot
  /** Nobody showed it: the snapshot after it says that this was left. */
  readonly isGhost: boolean
}

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
  observed: ObservedSubscription,
  sighting: Sighting,
): SubscriptionRow {
  const { asOf, cancellation, pause } = observed
  const seen: Snapshot = {
    asOf,
    cancellation,
    pause,
    before: observed.before,
    isBaseline: sighting.reading === 'baseline',
    isPastDue: observed.isPastDue === true,
    seenThrough: [sighting.connection],
    idempotencyKeys: observed.idempotencyKey === null ? [] : [observed.idempotencyKey],
    eventIds: sighting.eventId === null ? [] : [sighting.eventId],
  }
  const known = row?.snapshots ?? []
  const twin = known.findIndex(snapshot => snapshot.asOf === asOf && sameStanding(snapshot, seen))
  const before = known[twin]
  const snapshots = before === undefined ? [...known, seen] : known.with(twin, withSighting(before, seen))
  return {
    identity: observed.identity,
    provider: observed.provider,
    subject: row?.subject ?? observed.subject,
    objectIds: withAll(row?.objectIds ?? [], observed.objectIds),
    snapshots: compressed(snapshots.toSorted(bySnapshot)).slice(-MAX_SNAPSHOTS),
  }
}

/** Everything of both rows of one subscription. */
export function mergeRows(a: SubscriptionRow, b: SubscriptionRow): SubscriptionRow {
  const snapshots = [...a.snapshots]
  for (const snapshot of b.snapshots) {
    const twin = snapshots.findIndex(known => known.asOf === snapshot.asOf && sameStanding(known, snapshot))
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

function standing({ cancellation, pause, isPastDue }: Snapshot): string {
  const { phase, requestedAt, effectiveAt, cause, detail } = cancellation
  return JSON.stringify([phase, requestedAt, effectiveAt, cause, detail, pause.phase, pause.effectiveAt, isPastDue])
}

function sameStanding(a: Snapshot, b: Snapshot): boolean {
  return standing(a) === standing(b)
}

function bySnapshot(a: Snapshot, b: Snapshot): number {
  return a.asOf - b.asOf || (standing(a) < standing(b) ? -1 : 1)
}

/** Without the middle of what stood still long ago: a subscription changes often in what does not matter here. */
function compressed(sorted: readonly Snapshot[]): readonly Snapshot[] {
  const kept: Snapshot[] = []
  const wholeFrom = (sorted.at(-1)?.asOf ?? 0) - WHOLE_FOR_MS
  for (const snapshot of sorted) {
    const [last, beforeLast] = [kept.at(-1), kept.at(-2)]
    const isMiddle = last !== undefined && beforeLast !== undefined && !tellsOfLeaving(last)
    if (isMiddle && snapshot.asOf < wholeFrom && sameStanding(last, snapshot) && sameStanding(beforeLast, last)) {
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

function tellsOfLeaving({ before, cancellation, pause }: Snapshot): boolean {
  const isOther = (phase: string | null | undefined, now: string) => phase != null && phase !== now
  return isOther(before?.cancellation, cancellation.phase) || isOther(before?.pause, pause.phase)
}

/** The row as one aspect sees it: alternating gaps and episodes. */
export function stretchesOf(row: SubscriptionRow, aspect: Aspect): readonly Stretch[] {
  const runs: { part: Stretch['part']; points: Point[]; reached: Stretch['reached'] }[] = []
  let left: 'set' | 'done' | null = null
  for (const point of pointsOf(row, aspect)) {
    const last = runs.at(-1)
    if (point.phase === 'none') {
      if (last?.part === 'gap' && left === null) last.points.push(point)
      else
        runs.push({ part: 'gap', points: [point], reached: left ?? (last?.part === 'episode' ? last.reached : null) })
      left = null
    } else if (point.isGhost) {
      left = point.phase
    } else {
      left = null
      const before = runs.findLastIndex(run => run.part === 'episode')
      const episode = runs[before]
      const isSame = last?.part === 'episode' || sameRequest(episode, point, aspect)
      if (episode === undefined || !isSame) {
        runs.push({ part: 'episode', points: [point], reached: point.phase })
        continue
      }
      // The same request again: what stood in between was shown out of order.
      runs.length = before + 1
      episode.points.push(point)
      if (point.phase === 'done') episode.reached = 'done'
    }
  }
  return runs.map(({ part, points, reached }, index) => {
    const last = runs[index - 1]?.points.at(-1)
    return {
      part,
      reached,
      from: points[0]?.asOf ?? 0,
      to: points.at(-1)?.asOf ?? 0,
      snapshots: points.map(point => point.snapshot),
      afterShown: last?.asOf ?? null,
      wasPastDue: last?.isGhost === false && last.snapshot.isPastDue,
      isOver: index < runs.length - 1,
    }
  })
}

function sameRequest(episode: { points: Point[] } | undefined, point: Point, aspect: Aspect): boolean {
  if (aspect !== 'cancellation' || episode === undefined) return false
  const { requestedAt } = point.snapshot.cancellation
  return requestedAt !== null && episode.points.some(known => known.snapshot.cancellation.requestedAt === requestedAt)
}

const PHASES = { none: 'none', scheduled: 'set', executed: 'done', paused: 'done' } as const
const RANK: Record<Phase, number> = { none: 0, set: 1, done: 2 }

/** A snapshot as one aspect sees it, with the phase that it says it left. */
interface Showing {
  readonly snapshot: Snapshot
  readonly phase: Phase
  readonly before: Phase | null
}

/** What was shown, and what it says was left where that was not shown. */
function pointsOf(row: SubscriptionRow, aspect: Aspect): Point[] {
  const left = row.snapshots.map((snapshot): Showing => {
    const before = snapshot.before?.[aspect] ?? null
    return { snapshot, phase: PHASES[snapshot[aspect].phase], before: before === null ? null : PHASES[before] }
  })
  left.sort((a, b) => a.snapshot.asOf - b.snapshot.asOf || RANK[a.before ?? a.phase] - RANK[b.before ?? b.phase])
  const points: Point[] = []
  while (left.length > 0) {
    const asOf = left[0]?.snapshot.asOf ?? 0
    const last = points.at(-1)
    const current = last?.phase
    // Providers give whole seconds. Of one second, that comes first which shows what there was, as it was read before a
    // change; then that which says that it left what there was.
    const ofSecond = left.filter(one => one.snapshot.asOf === asOf)
    const same = ofSecond.findIndex(one => one.before === null && one.phase === current)
    const next = same >= 0 ? same : ofSecond.findIndex(one => one.before !== null && one.before === current)
    for (const one of left.splice(Math.max(0, next), 1)) {
      const { snapshot, phase, before } = one
      const isUnseen = before !== null && before !== phase && before !== current && !isAhead(last, one, aspect)
      // Half a millisecond before it: times are whole ones.
      if (isUnseen) points.push({ asOf: asOf - 0.5, phase: before, snapshot, isGhost: true })
      points.push({ asOf, phase, snapshot, isGhost: false })
    }
  }
  return points
}

/** Whether the point is a reading that shows already what this later snapshot says came about. */
function isAhead(point: Point | undefined, { snapshot, phase }: Showing, aspect: Aspect): boolean {
  if (point === undefined || point.phase !== phase || point.snapshot.eventIds.length > 0) return false
  // An end that was asked for at another time is another one, taken back in between.
  const isOtherRequest = point.snapshot.cancellation.requestedAt !== snapshot.cancellation.requestedAt
  if (aspect === 'cancellation' && isOtherRequest) return false
  return snapshot.asOf - point.asOf <= READING_TAKES_MS
}
