import { deterministicId, incidentAlertId, type OutOfBand } from '@backstop/contracts'
import { type ActionRecord, type IncidentRecord, openIncident } from '../case/action-record.ts'
import { type Case, withRecord } from '../case/case.ts'
import { addToTimeline, timelineEntry } from '../case/timeline.ts'
import { alertEntry, incidentEntry } from './outbox-entries.ts'

/** What an incident reports, and the setting that allows it. */
export type IncidentReason =
  | { readonly code: 'UNEXPECTED_ACTION'; readonly connectionId: string; readonly outOfBand: OutOfBand }
  | { readonly code: 'REFUND_REJECTED'; readonly connectionId: string; readonly outOfBand: null }

/**
 * The case with an incident about one of its records, and the messages that tell of it.
 * @param turn names it among the incidents of this record: the same turn opens the same incident, and opens it once
 */
export function openIncidentAbout(
  theCase: Case,
  record: ActionRecord,
  reason: IncidentReason,
  turn: string,
  now: number,
): Case {
  const id = deterministicId('incident', record.id, turn)
  if (record.incidents.some(known => known.id === id)) return theCase
  const incident: IncidentRecord = {
    id,
    ...reason,
    state: 'open',
    openedAt: now,
    resolvedAt: null,
    resolvedBy: null,
    resolution: null,
  }
  const opened = addToTimeline(
    { ...record, incidents: [...record.incidents, incident] },
    timelineEntry(now, 'incident_opened', id, `Incident ${reason.code} opened`),
    timelineEntry(now, 'alert_sent', incidentAlertId(id, 'incident.opened'), 'Alert incident.opened raised'),
  )
  return withIncident(theCase, opened, incident, 'incident.opened', now)
}

/** How an incident ended: the operation whose late arrival ended it, if one did, and a sentence for a person. */
export interface Resolution {
  readonly by: string | null
  readonly text: string
}

/** The case with an incident of one of its records resolved, and the messages that tell of it. */
export function resolveIncident(
  theCase: Case,
  record: ActionRecord,
  known: IncidentRecord,
  { by, text }: Resolution,
  now: number,
): Case {
  const incident: IncidentRecord = { ...known, state: 'resolved', resolvedAt: now, resolvedBy: by, resolution: text }
  const resolved = addToTimeline(
    { ...record, incidents: record.incidents.map(one => (one.id === incident.id ? incident : one)) },
    timelineEntry(now, 'incident_resolved', incident.id, text),
  )
  return withIncident(theCase, resolved, incident, 'incident.resolved', now)
}

/** The case in which nothing is open any more that said that nothing explains the record. */
export function resolveUnexpected(theCase: Case, record: ActionRecord, resolution: Resolution, now: number): Case {
  const incident = openIncident(record, 'UNEXPECTED_ACTION')
  return incident === undefined ? theCase : resolveIncident(theCase, record, incident, resolution, now)
}

function withIncident(
  theCase: Case,
  record: ActionRecord,
  incident: IncidentRecord,
  event: 'incident.opened' | 'incident.resolved',
  now: number,
): Case {
  const next = withRecord(theCase, record)
  const entries = [incidentEntry(next, record, incident, now), alertEntry(next, record, incident, event, now)]
  return { ...next, outbox: [...next.outbox, ...entries] }
}
