import type { CancellationState } from '@backstop/providers'
import type { Aspect } from '../case/action-record.ts'
import type { Snapshot, SubscriptionRow } from '../case/case.ts'

/**
 * What the snapshots of a subscription show, one after another. Where a schedule manages the subscription, two objects show
 * its end: each has a track of its own, and what counts at any moment is the further of the two.
 */

/** A reading carries the time at which its page was asked for; what is on the page may be read so much later. */
export const READING_TAKES_MS = 60_000

/** none: runs on. set: for later. done: in effect. */
export type Phase = 'none' | 'set' | 'done'

export interface Point {
  readonly asOf: number
  readonly phase: Phase
  readonly snapshot: Snapshot
  /** Not shown itself: the next snapshot states it as the state before. */
  readonly isInferred: boolean
  /** A schedule manages the subscription, and nothing shows yet whether the schedule ends it: `none` is uncertain. */
  readonly isUncertain?: true
}

const PHASES = { none: 'none', scheduled: 'set', executed: 'done', paused: 'done' } as const
const RANK: Record<Phase, number> = { none: 0, set: 1, done: 2 }

/** A snapshot as one aspect sees it, with the phase that it says it left. */
interface SnapshotPhase {
  readonly snapshot: Snapshot
  readonly phase: Phase
  readonly before: Phase | null
}

/** What was shown, and what it says was left where that was not shown. */
export function pointsOf({ snapshots }: SubscriptionRow, aspect: Aspect): readonly Point[] {
  const ofSchedule = snapshots.filter(({ source }) => source?.kind === 'schedule')
  const own = snapshots.filter(({ source }) => source?.kind !== 'schedule')
  const points = trackOf(
    own.map(snapshot => phaseOf(snapshot, aspect)),
    aspect,
  )
  // Nothing but the subscription itself tells of its pauses.
  if (aspect === 'pause' || !snapshots.some(isScheduled)) return points
  const schedule = [...ofSchedule.map(snapshot => phaseOf(snapshot, aspect)), ...unmanaged(own, ofSchedule)]
  return combined(points, trackOf(schedule, aspect))
}

function phaseOf(snapshot: Snapshot, aspect: Aspect): SnapshotPhase {
  const before = snapshot.before?.[aspect] ?? null
  return { snapshot, phase: PHASES[snapshot[aspect].phase], before: before === null ? null : PHASES[before] }
}

function isScheduled({ source }: Snapshot): boolean {
  return source !== undefined && source.scheduleId !== null
}

/** The snapshots of a subscription that say that no schedule ends it: with the subscription its schedule ends, too. */
function unmanaged(own: readonly Snapshot[], ofSchedule: readonly Snapshot[]): SnapshotPhase[] {
  return own
    .filter(({ source, cancellation }) => source?.scheduleId === null && cancellation.phase !== 'executed')
    .filter(snapshot => snapshot.eventIds.length > 0 || !ofSchedule.some(set => mayNotShow(snapshot, set)))
    .map(snapshot => ({ snapshot, phase: 'none', before: null }))
}

/** Whether a reading may be of a copy that did not know yet of a schedule that was set just before. */
function mayNotShow(reading: Snapshot, { asOf, cancellation }: Snapshot): boolean {
  return cancellation.requestedAt !== null && reading.asOf >= asOf && reading.asOf - asOf <= READING_TAKES_MS
}

function trackOf(showings: readonly SnapshotPhase[], aspect: Aspect): Point[] {
  const left = showings.toSorted(
    (a, b) => a.snapshot.asOf - b.snapshot.asOf || RANK[a.before ?? a.phase] - RANK[b.before ?? b.phase],
  )
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
      if (isUnseen) points.push({ asOf: asOf - 0.5, phase: before, snapshot, isInferred: true })
      points.push({ asOf, phase, snapshot, isInferred: false })
    }
  }
  return points
}

/** Whether the point is a reading that shows already what this later snapshot says came about. */
function isAhead(point: Point | undefined, { snapshot, phase }: SnapshotPhase, aspect: Aspect): boolean {
  if (point === undefined || point.phase !== phase || point.snapshot.eventIds.length > 0) return false
  // An end that was asked for at another time is another one, taken back in between. A schedule that is read does not say.
  const [known, later] = [point.snapshot.cancellation.requestedAt, snapshot.cancellation.requestedAt]
  if (aspect === 'cancellation' && known !== null && later !== null && known !== later) return false
  return snapshot.asOf - point.asOf <= READING_TAKES_MS
}

/** Both tracks as one. Of one moment the schedule comes first: it changes the subscription, and not the other way round. */
function combined(own: readonly Point[], ofSchedule: readonly Point[]): Point[] {
  const all = [...ofSchedule.map(point => ({ point, isOwn: false })), ...own.map(point => ({ point, isOwn: true }))]
  all.sort((a, b) => a.point.asOf - b.point.asOf)
  let subscription: Point | undefined
  let schedule: Point | undefined
  return all.map(({ point, isOwn }) => {
    if (isOwn) subscription = point
    else schedule = point
    return furtherOf(point, subscription, schedule)
  })
}

/** What counts at the moment of a point: the subscription's own phase, or that of the schedule which manages it. */
function furtherOf(point: Point, subscription: Point | undefined, schedule: Point | undefined): Point {
  const managedBy = subscription?.snapshot.source?.scheduleId ?? null
  const isLate = subscription !== undefined && schedule !== undefined && subscription.asOf > schedule.asOf
  const isOther = managedBy !== null && (schedule === undefined || (isLate && scheduleOf(schedule) !== managedBy))
  const managing = isOther ? undefined : schedule
  const own = subscription === undefined || isPhaseEnd(subscription, managing) ? 'none' : subscription.phase
  const bySchedule = managing?.phase ?? 'none'
  if (own === 'none' && bySchedule === 'none') {
    return {
      asOf: point.asOf,
      phase: 'none',
      snapshot: point.snapshot,
      isInferred: point.isInferred,
      ...(isOther && UNCERTAIN),
    }
  }
  const winner = (RANK[own] >= RANK[bySchedule] ? subscription : managing) ?? point
  return {
    ...winner,
    asOf: point.asOf,
    snapshot: winner === point ? point.snapshot : standingAs(winner, point.snapshot),
  }
}

const UNCERTAIN = { isVague: true } as const

function scheduleOf({ snapshot: { source } }: Point): string | null {
  return source?.scheduleId ?? null
}

/** Whether what the subscription shows as its end is the end of a phase of the schedule, after which it goes on. */
function isPhaseEnd({ phase, snapshot }: Point, schedule: Point | undefined): boolean {
  const of = schedule?.snapshot.source
  if (phase !== 'set' || schedule?.phase !== 'none' || of?.kind !== 'schedule') return false
  const { effectiveAt }: CancellationState = snapshot.cancellation
  return snapshot.source?.scheduleId === of.scheduleId && effectiveAt !== null && of.phaseEnds.includes(effectiveAt)
}

/** A snapshot that stands as another object says: nothing of its own request set that. */
function standingAs({ snapshot: { cancellation, source } }: Point, snapshot: Snapshot): Snapshot {
  return { ...snapshot, cancellation, idempotencyKeys: [], ...(source === undefined ? {} : { source }) }
}
