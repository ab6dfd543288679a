import type { Storm, StormDocument } from '@backstop/contracts'
import type { StormSettings } from './storm-settings.ts'

const MINUTE_MS = 60_000
/** When the first reports are due, in milliseconds after the begin of the storm, or after its field `reports_from`. */
const FIRST_REPORTS_MS = [0, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS] as const
/** The reports after the first ones repeat at this interval. */
const LATER_REPORTS_MS = 60 * MINUTE_MS
/**
 * People already know of a burst, so the report that confirms it waits this long after the first second look. A smaller burst is then
 * complete in it.
 */
const CONFIRMED_AFTER_MS = 10_000
/** Pause between two looks for the first action of a storm that a burst began, if the second looks are late. */
const AWAIT_FIRST_MS = 5_000

/** When the first report about a storm that a burst began is due. @param looksAtMs the first second look of its actions */
export function confirmedAtMs(looksAtMs: number): number {
  return looksAtMs + CONFIRMED_AFTER_MS
}

type StormProgress = Pick<
  StormDocument,
  | 'state'
  | 'began_at'
  | 'last_member_at'
  | 'version'
  | 'reported_at'
  | 'reported_version'
  | 'acknowledgements'
  | 'seen_acknowledgements'
  | 'reports_from'
>

/** What is due for an open storm. `untilMs`: when to look at the storm again. */
export type StormStep =
  | { kind: 'end'; reason: 'no_new_action' | 'has_ended' }
  | { kind: 'report'; reason: 'report_is_due'; untilMs: number; nextReportAtMs: number }
  /** A report is due if all open incidents are acknowledged now. */
  | { kind: 'check_acknowledged'; reason: 'incidents_acknowledged'; untilMs: number; nextReportAtMs: number }
  | { kind: 'wait'; reason: 'not_due' | 'nothing_new'; untilMs: number }

/**
 * Decides whether a report about a storm is due. A report without a new action is left out, except for the one that says that people
 * acknowledged every open incident.
 */
export function decideStormStep(storm: StormProgress, nowMs: number, { quietMs }: StormSettings): StormStep {
  if (storm.state === 'ended') return { kind: 'end', reason: 'has_ended' }
  const fromMs = (storm.reports_from ?? storm.began_at).getTime()
  const quietAtMs = Math.max(storm.last_member_at.getTime(), fromMs) + quietMs
  if (nowMs >= quietAtMs) return { kind: 'end', reason: 'no_new_action' }
  const nextReportAtMs = reportTimeAfter(fromMs, nowMs)
  const untilMs = Math.min(nextReportAtMs, quietAtMs)
  const dueAtMs = storm.reported_at === null ? fromMs : reportTimeAfter(fromMs, storm.reported_at.getTime())
  const isDue = nowMs >= dueAtMs
  const isNew = storm.version !== storm.reported_version
  if (isDue && isNew) return { kind: 'report', reason: 'report_is_due', untilMs, nextReportAtMs }
  if (storm.acknowledgements !== storm.seen_acknowledgements) {
    return { kind: 'check_acknowledged', reason: 'incidents_acknowledged', untilMs, nextReportAtMs }
  }
  if (!isDue) return { kind: 'wait', reason: 'not_due', untilMs }
  const firstMs = storm.reported_at === null ? Math.min(nowMs + AWAIT_FIRST_MS, quietAtMs) : untilMs
  return { kind: 'wait', reason: 'nothing_new', untilMs: firstMs }
}

type Progress = Pick<Storm, 'count' | 'resolved'> & { readonly unacknowledged: number }

/** Why a storm is reported although no action is new: what people did with its incidents, if no report says so yet. */
export function newlyDone(
  { reported_resolved, reported_unacknowledged }: Pick<StormDocument, 'reported_resolved' | 'reported_unacknowledged'>,
  { count, resolved, unacknowledged }: Progress,
): 'resolved' | 'acknowledged' | null {
  if (resolved === count) return reported_resolved < count ? 'resolved' : null
  return unacknowledged === 0 && reported_unacknowledged !== 0 ? 'acknowledged' : null
}

/** The first planned report after `afterMs`. */
function reportTimeAfter(fromMs: number, afterMs: number): number {
  const elapsedMs = afterMs - fromMs
  const planned = FIRST_REPORTS_MS.find(offsetMs => offsetMs > elapsedMs)
  if (planned !== undefined) return fromMs + planned
  const sinceLastMs = elapsedMs - FIRST_REPORTS_MS[3]
  return fromMs + FIRST_REPORTS_MS[3] + (Math.floor(sinceLastMs / LATER_REPORTS_MS) + 1) * LATER_REPORTS_MS
}
