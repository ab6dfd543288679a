import type {
  Completeness,
  CompletenessAnswer,
  CompletenessLimit,
  CompletenessOpen,
  ConnectionCompleteness,
  ConnectionDocument,
  SweepDayDocument,
  SweepDocument,
  UptimeDocument,
} from '@backstop/contracts'
import type { Period } from '../../stats/rules/summarize-days.ts'

/** Everything that is stored about the completeness of one connection in a period. */
export interface CompletenessFacts {
  readonly connection: Pick<ConnectionDocument, '_id' | 'name' | 'kind' | 'created_at' | 'deleted_at' | 'read_key'>
  /** Undefined if the connection was never swept, or is deleted. */
  readonly sweep: Pick<SweepDocument, 'read_until' | 'last_error' | 'next_run_at' | 'completed_at'> | undefined
  /** The records of sweeps of the days since the beginning of the period, also those after its end. */
  readonly days: readonly SweepDayDocument[]
  /** Nothing is recorded about sweeps before this time; null if nothing is. */
  readonly recordedFrom: Date | null
  readonly lines: ConnectionCompleteness['lines']
  /** Number of actions without a verdict, and of those that were made before today. */
  readonly pending: number
  readonly pendingSinceYesterday: number
  /** Null if it is not known for all days. */
  readonly withoutNotification: number | null
  readonly waitingNotifications: number
  readonly unusableNotifications: number
  readonly isBeingCounted: boolean
}

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** A sweep that is due for so long does not run. */
const OVERDUE_MS = 15 * MINUTE_MS
/** A provider lists events for so long. */
const LISTED_FOR_MS = 30 * DAY_MS

/** Decides whether every change of a connection in a period was read and judged. */
export function judgeCompleteness(facts: CompletenessFacts, period: Period, now: Date): ConnectionCompleteness {
  const { connection, days, lines, recordedFrom } = facts
  const readUntil = lastOf([facts.sweep?.read_until, ...days.map(day => day.read_until)])
  const watched = watchedPart(connection, period, readUntil)
  const interruptions = interruptionsIn(facts, watched, now, readUntil)
  const recorded = sum(lines.map(({ count }) => count))
  const coverage = coverageOf(facts, watched, now, readUntil)
  const open = openOf(facts, coverage)
  const limits = limitsOf(facts, period, watched, interruptions, coverage)
  const ofPeriod = days.filter(({ day }) => day < period.to)
  return {
    connection_id: connection._id,
    connection_name: connection.name,
    provider: connection.kind,
    answer: answerOf(
      open,
      coverage,
      limits.includes('not_read_for_thirty_days') || hasUnknownGap(facts, watched, coverage),
    ),
    open,
    limits,
    watched_from: watched.from.toISOString(),
    watched_to: watched.to.toISOString(),
    complete_until: shown(completeUntil(coverage, watched, readUntil)),
    recorded,
    judged: recorded - facts.pending,
    found_by_reading: facts.withoutNotification,
    waiting_notifications: facts.waitingNotifications,
    unusable_notifications: facts.unusableNotifications,
    reading: {
      recorded_from: shown(recordedFrom),
      completed: sum(ofPeriod.map(({ completed }) => completed)),
      objects: sum(ofPeriod.map(({ objects }) => objects)),
      interruptions: interruptions.map(({ from, to, cause }) => ({ from: from.toISOString(), to: shown(to), cause })),
    },
    lines,
  }
}

/** The part of a period in which the connection existed. That of a deleted connection ends where it was read last. */
function watchedPart(
  { created_at, deleted_at }: CompletenessFacts['connection'],
  { from, to }: Period,
  readUntil: Date | null,
): Period {
  const begin = lastOf([from, created_at]) ?? from
  if (deleted_at === null || deleted_at >= to) return { from: begin, to }
  return { from: begin, to: readUntil !== null && readUntil > begin && readUntil < deleted_at ? readUntil : deleted_at }
}

/** whole: everything was read. so_far: everything until some minutes ago was read, and the period has not ended. */
type Coverage = 'whole' | 'so_far' | 'behind' | 'unreadable'

function coverageOf(
  { connection, sweep }: CompletenessFacts,
  watched: Period,
  now: Date,
  readUntil: Date | null,
): Coverage {
  if (readUntil !== null && readUntil >= watched.to) return 'whole'
  if (connection.read_key === null || connection.deleted_at !== null) return 'unreadable'
  if (readUntil === null || sweep === undefined) return 'behind'
  const isSwept = sweep.last_error === null && now.getTime() - sweep.next_run_at.getTime() < OVERDUE_MS
  return isSwept && watched.to > now ? 'so_far' : 'behind'
}

function completeUntil(coverage: Coverage, watched: Period, readUntil: Date | null): Date | null {
  if (coverage === 'whole') return watched.to
  return readUntil !== null && readUntil > watched.from ? readUntil : null
}

type Interruption = { readonly from: Date; readonly to: Date | null; readonly cause: string | null }

/** The times in which the connection was not swept that overlap the period, oldest first. One that a crash repeated is one. */
function interruptionsIn(
  { days, sweep, connection }: CompletenessFacts,
  watched: Period,
  now: Date,
  readUntil: Date | null,
): Interruption[] {
  const recorded = days.flatMap(({ interruptions }) => interruptions)
  const byBegin = new Map<number, Interruption>()
  for (const one of recorded.toSorted((a, b) => b.to.getTime() - a.to.getTime())) byBegin.set(one.from.getTime(), one)
  const last = sweep?.completed_at ?? readUntil
  const isOverdue = sweep !== undefined && now.getTime() - sweep.next_run_at.getTime() >= OVERDUE_MS
  const hasStopped = last !== null && (isOverdue || (sweep?.last_error ?? null) !== null)
  if (hasStopped && connection.deleted_at === null && now.getTime() - last.getTime() >= OVERDUE_MS) {
    byBegin.set(last.getTime(), { from: last, to: null, cause: sweep?.last_error ?? null })
  }
  return [...byBegin.values()]
    .filter(({ from, to }) => from < watched.to && (to === null || to > watched.from))
    .toSorted((a, b) => a.from.getTime() - b.from.getTime())
}

/** During a period some verdicts of today are always due within a minute, and today is always counted again. */
function openOf(facts: CompletenessFacts, coverage: Coverage): CompletenessOpen[] {
  const pending = coverage === 'so_far' ? facts.pendingSinceYesterday : facts.pending
  const isOpen: Readonly<Record<CompletenessOpen, boolean>> = {
    not_read_yet: coverage === 'behind',
    verdicts_pending: pending > 0,
    notifications_wait: facts.waitingNotifications > 0,
    notifications_unusable: facts.unusableNotifications > 0,
    being_counted: coverage !== 'so_far' && facts.isBeingCounted,
  }
  return (Object.keys(isOpen) as CompletenessOpen[]).filter(what => isOpen[what])
}

function limitsOf(
  { connection, recordedFrom, withoutNotification }: CompletenessFacts,
  period: Period,
  watched: Period,
  interruptions: readonly Interruption[],
  coverage: Coverage,
): CompletenessLimit[] {
  // Of a longer interruption, the changes of its last 30 days were still listed when it ended.
  const isTooOld = ({ from, to }: Interruption) =>
    to !== null && Math.max(from.getTime(), watched.from.getTime()) < to.getTime() - LISTED_FOR_MS
  const isKnown: Readonly<Record<CompletenessLimit, boolean>> = {
    no_read_key: coverage === 'unreadable',
    not_read_for_thirty_days: interruptions.some(isTooOld),
    connected_later: watched.from > period.from,
    deleted_earlier: watched.to < period.to,
    reading_not_recorded: coverage !== 'unreadable' && (recordedFrom === null || recordedFrom > watched.from),
    found_by_reading_not_recorded: withoutNotification === null,
    connected_accounts: connection.kind === 'processor',
  }
  return (Object.keys(isKnown) as CompletenessLimit[]).filter(limit => isKnown[limit])
}

/** The first recorded sweep has read what its provider listed. Before, a longer interruption than that cannot be excluded. */
function hasUnknownGap({ recordedFrom }: CompletenessFacts, watched: Period, coverage: Coverage): boolean {
  // Before the first sweep nothing is recorded, and everything will be read.
  if (recordedFrom === null) return coverage !== 'behind'
  return recordedFrom.getTime() - LISTED_FOR_MS > watched.from.getTime()
}

function answerOf(open: readonly CompletenessOpen[], coverage: Coverage, hasGap: boolean): CompletenessAnswer {
  if (coverage === 'unreadable' || hasGap) return 'not_provable'
  if (open.length > 0) return 'open'
  return coverage === 'whole' ? 'complete' : 'complete_so_far'
}

/**
 * The outages of Backstop in a period: the times between two times of uptime.
 * @param isMissing whether the heartbeat is missing now
 */
export function outagesIn(
  uptimes: readonly Pick<UptimeDocument, 'from' | 'to'>[],
  isMissing: boolean,
  period: Period,
): Completeness['outages'] {
  const ordered = uptimes.toSorted((a, b) => a.from.getTime() - b.from.getTime())
  const [first] = ordered
  const last = lastOf(ordered.map(({ to }) => to))
  if (first === undefined || last === null) return null
  const found = ordered.flatMap(({ to }, index): { from: Date; to: Date | null }[] => {
    const next = ordered[index + 1]
    if (next !== undefined) return next.from > to ? [{ from: to, to: next.from }] : []
    return isMissing ? [{ from: to, to: null }] : []
  })
  return {
    recorded_from: first.from.toISOString(),
    recorded_until: last.toISOString(),
    found: found
      .filter(({ from, to }) => from < period.to && (to === null || to > period.from))
      .map(({ from, to }) => ({ from: from.toISOString(), to: shown(to) })),
  }
}

function lastOf(times: readonly (Date | null | undefined)[]): Date | null {
  return times.reduce<Date | null>((last, one) => (one != null && (last === null || one > last) ? one : last), null)
}

function shown(time: Date | null): string | null {
  return time?.toISOString() ?? null
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
