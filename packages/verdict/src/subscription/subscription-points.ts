import type { CancellationState } from '@backstop/providers'
import type { Aspect } from '../case/action-record.ts'
import type { Snapshot, SubscriptionRow } from '../case/case.ts'

/**
 * Derives the phases of a subscription from its snapshots. If a schedule manages the subscription, both objects show
 * its end. Each object has its own track, and the more advanced phase applies at each time.
 */

/** The time of a re-read is the start of its request. The data may be up to this much newer. */
export const READ_DELAY_MS = 60_000

/** none: continues. set: scheduled for later. done: in effect. */
export type Phase = 'none' | 'set' | 'done'

export interface Point {
  readonly asOf: number
  readonly phase: Phase
  readonly snapshot: Snapshot
  /** True if no snapshot shows this phase; the next snapshot states it as its phase before. */
  readonly isInferred: boolean
  /**
   * Set if the phase at this time is uncertain: a schedule manages the subscription, and the snapshot does not show
   * whether and when the schedule ends it.
   */
  readonly isUncertain?: true
}

const PHASES = { none: 'none', scheduled: 'set', executed: 'done', paused: 'done' } as const
const RANK: Record<Phase, number> = { none: 0, set: 1, done: 2 }

/** The phase of a snapshot for one aspect, and the phase before, if the snapshot states it. */
interface SnapshotPhase {
  readonly snapshot: Snapshot
  readonly phase: Phase
  readonly before: Phase | null
}

/** The phases that the snapshots show, and the phases before that they state and that no snapshot shows. */
export function pointsOf({ snapshots }: SubscriptionRow, aspect: Aspect): readonly Point[] {
  const ofSchedule = snapshots.filter(({ source }) => source?.kind === 'schedule')
  const own = withSetEnds(snapshots.filter(({ source }) => source?.kind !== 'schedule'))
  const points = trackOf(
    own.map(snapshot => phaseOf(snapshot, aspect)),
    aspect,
  )
  // A schedule does not show pauses.
  if (aspect === 'pause' || !snapshots.some(isScheduled)) return points
  const schedule = [...ofSchedule.map(snapshot => phaseOf(snapshot, aspect)), ...unmanagedPhases(own, ofSchedule)]
  return mergeTracks(points, trackOf(schedule, aspect))
}

/**
 * The snapshots, with the end that somebody set also in those that show only the last term of a plan. At older sites of
 * the biller both look the same, and only the event that set the end distinguishes them.
 */
function withSetEnds(snapshots: readonly Snapshot[]): readonly Snapshot[] {
  if (!snapshots.some(isLastTerm) || !snapshots.some(isSetByEvent)) return snapshots
  return snapshots.map(snapshot => {
    if (!isLastTerm(snapshot)) return snapshot
    const others = snapshots.filter(other => other.asOf <= snapshot.asOf && !isLastTerm(other))
    // Snapshots of one time are in no order, so the one that sets an end counts as the last.
    const set = others.filter(({ asOf }) => asOf === others.at(-1)?.asOf).find(isSetByEvent)
    return set === undefined ? snapshot : { ...snapshot, cancellation: set.cancellation }
  })
}

function isLastTerm({ cancellation }: Snapshot): boolean {
  return cancellation.phase === 'none' && cancellation.cause === 'plan_end'
}

function isSetByEvent({ cancellation, requestReportedAt }: Snapshot): boolean {
  return cancellation.phase === 'scheduled' && cancellation.requestedAt === null && requestReportedAt !== undefined
}

function phaseOf(snapshot: Snapshot, aspect: Aspect): SnapshotPhase {
  const before = snapshot.before?.[aspect] ?? null
  return { snapshot, phase: PHASES[snapshot[aspect].phase], before: before === null ? null : PHASES[before] }
}

function isScheduled({ source }: Snapshot): boolean {
  return source !== undefined && source.scheduleId !== null
}

/**
 * Snapshots showing that no schedule manages the subscription. A subscription that has ended also has no schedule, so
 * its snapshots are left out.
 */
function unmanagedPhases(own: readonly Snapshot[], ofSchedule: readonly Snapshot[]): SnapshotPhase[] {
  return own
    .filter(({ source, cancellation }) => source?.scheduleId === null && cancellation.phase !== 'executed')
    .filter(snapshot => snapshot.eventIds.length > 0 || !ofSchedule.some(set => mayBeStale(snapshot, set)))
    .map(snapshot => ({ snapshot, phase: 'none', before: null }))
}

/** True if a re-read may be of an older copy, from before the schedule was set. */
function mayBeStale(stale: Snapshot, { asOf, cancellation }: Snapshot): boolean {
  return cancellation.requestedAt !== null && stale.asOf >= asOf && stale.asOf - asOf <= READ_DELAY_MS
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
    // Providers give whole seconds. Among snapshots of one second, the first is one that shows the current phase (it was
    // read before a change), then one that states the current phase as its phase before.
    const ofSecond = left.filter(point => point.snapshot.asOf === asOf)
    const same = ofSecond.findIndex(point => point.before === null && point.phase === current)
    const next = same >= 0 ? same : ofSecond.findIndex(point => point.before !== null && point.before === current)
    for (const point of left.splice(Math.max(0, next), 1)) {
      const { snapshot, phase, before } = point
      const isUnseen = before !== null && before !== phase && before !== current && !alreadyShows(last, point, aspect)
      // Times are whole milliseconds, so half a millisecond before is a time without other points.
      if (isUnseen) points.push({ asOf: asOf - 0.5, phase: before, snapshot, isInferred: true })
      points.push({ asOf, phase, snapshot, isInferred: false })
    }
  }
  return points
}

/** True if the point is a re-read that already showed the change that this later snapshot reports. */
function alreadyShows(point: Point | undefined, { snapshot, phase }: SnapshotPhase, aspect: Aspect): boolean {
  if (point === undefined || point.phase !== phase || point.snapshot.eventIds.length > 0) return false
  // A different request time means a different cancellation; the first one was taken back in between. Schedules have no
  // request time.
  const [known, later] = [point.snapshot.cancellation.requestedAt, snapshot.cancellation.requestedAt]
  if (aspect === 'cancellation' && known !== null && later !== null && known !== later) return false
  return snapshot.asOf - point.asOf <= READ_DELAY_MS
}

/** Merges both tracks. At the same time the schedule comes first, because a schedule changes its subscription. */
function mergeTracks(own: readonly Point[], ofSchedule: readonly Point[]): Point[] {
  const all = [...ofSchedule.map(point => ({ point, isOwn: false })), ...own.map(point => ({ point, isOwn: true }))]
  all.sort((a, b) => a.point.asOf - b.point.asOf)
  let subscription: Point | undefined
  let schedule: Point | undefined
  return all.map(({ point, isOwn }) => {
    if (isOwn) subscription = point
    else schedule = point
    return applicablePoint(point, subscription, schedule)
  })
}

/** The phase that applies at the time of a point: that of the subscription, or of the schedule that manages it. */
function applicablePoint(point: Point, subscription: Point | undefined, schedule: Point | undefined): Point {
  const managedBy = subscription?.snapshot.source?.scheduleId ?? null
  const isLate = subscription !== undefined && schedule !== undefined && subscription.asOf > schedule.asOf
  const isOther = managedBy !== null && (schedule === undefined || (isLate && scheduleOf(schedule) !== managedBy))
  const managing = isOther ? undefined : schedule
  // The schedule may have been changed since its own last snapshot.
  const showsOnlySubscription = managedBy !== null && point === subscription
  const own = subscription === undefined || isPhaseEnd(subscription, managing) ? 'none' : subscription.phase
  const bySchedule = managing?.phase ?? 'none'
  if (own === 'none' && bySchedule === 'none') {
    return {
      asOf: point.asOf,
      phase: 'none',
      snapshot: point.snapshot,
      isInferred: point.isInferred,
      ...((isOther || showsOnlySubscription) && UNCERTAIN),
    }
  }
  const winner = (RANK[own] >= RANK[bySchedule] ? subscription : managing) ?? point
  return {
    ...winner,
    asOf: point.asOf,
    snapshot: winner === point ? point.snapshot : withCancellationOf(winner, point.snapshot),
    ...(winner === managing && showsOnlySubscription && UNCERTAIN),
  }
}

// Typed, because an excess property of a spread object is no type error.
const UNCERTAIN: Pick<Point, 'isUncertain'> = { isUncertain: true }

function scheduleOf({ snapshot: { source } }: Point): string | null {
  return source?.scheduleId ?? null
}

/**
 * True if the scheduled end of the subscription is only the end of a schedule phase, after which the subscription
 * continues.
 */
function isPhaseEnd({ phase, snapshot }: Point, schedule: Point | undefined): boolean {
  const of = schedule?.snapshot.source
  if (phase !== 'set' || schedule?.phase !== 'none' || of?.kind !== 'schedule') return false
  const { effectiveAt }: CancellationState = snapshot.cancellation
  return snapshot.source?.scheduleId === of.scheduleId && effectiveAt !== null && of.phaseEnds.includes(effectiveAt)
}

/**
 * The snapshot with the cancellation of another object. Its own request did not set that cancellation, so its
 * idempotency keys, its id and the details of its change are removed.
 */
function withCancellationOf(
  { snapshot: { cancellation, source } }: Point,
  { details: _details, ...snapshot }: Snapshot,
): Snapshot {
  return {
    ...snapshot,
    cancellation,
    idempotencyKeys: [],
    requestIds: undefined,
    ...(source === undefined ? {} : { source }),
  }
}
