import type { Storm, StormDocument } from '@backstop/contracts'
import type { StormSettings } from './storm-settings.ts'

const MINUTE_MS = 60_000
/** When the first reports are due, in milliseconds after the begin of the storm. */
const FIRST_REPORTS_MS = [0, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS] as const
/** The reports after the first ones repeat at this interval. */
const LATER_REPORTS_MS = 60 * MINUTE_MS

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
  const quietAtMs = storm.last_member_at.getTime() + quietMs
  if (nowMs >= quietAtMs) return { kind: 'end', reason: 'no_new_action' }
  const beganAtMs = storm.began_at.getTime()
  const nextReportAtMs = reportTimeAfter(beganAtMs, nowMs)
  const untilMs = Math.min(nextReportAtMs, quietAtMs)
  const dueAtMs = storm.reported_at === null ? beganAtMs : reportTimeAfter(beganAtMs, storm.reported_at.getTime())
  const isDue = nowMs >= dueAtMs
  const isNew = storm.version !== storm.reported_version
  if (isDue && isNew) return { kind: 'report', reason: 'report_is_due', untilMs, nextReportAtMs }
  if (storm.acknowledgements !== storm.seen_acknowledgements) {
    return { kind: 'check_acknowledged', reason: 'incidents_acknowledged', untilMs, nextReportAtMs }
  }
  return { kind: 'wait', reason: isDue ? 'nothing_new' : 'not_due', untilMs }
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
function reportTimeAfter(beganAtMs: number, afterMs: number): number {
  const elapsedMs = afterMs - beganAtMs
  const planned = FIRST_REPORTS_MS.find(offsetMs => offsetMs > elapsedMs)
  if (planned !== undefined) return beganAtMs + planned
  const sinceLastMs = elapsedMs - FIRST_REPORTS_MS[3]
  return beganAtMs + FIRST_REPORTS_MS[3] + (Math.floor(sinceLastMs / LATER_REPORTS_MS) + 1) * LATER_REPORTS_MS
}
