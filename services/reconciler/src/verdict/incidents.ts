import { deterministicId, incidentAlertId, type OutOfBand } from '@backstop/contracts'
import { type ActionRecord, type IncidentRecord, openIncident, type Subject, withRecord } from '../case/case.ts'
import { tellStory, timelineEntry } from '../case/timeline.ts'
import { alertEntry, incidentEntry } from './outbox-entries.ts'

/** What allows an alert. */
export interface Allowance {
  readonly connectionId: string
  readonly outOfBand: OutOfBand | null
}

/**
 * The subject with an incident about one of its records, and the messages that tell of it.
 * @param turn names it among the incidents of this record: the same turn opens the same incident, and opens it once
 */
export function openIncidentAbout(
  subject: Subject,
  record: ActionRecord,
  code: IncidentRecord['code'],
  { connectionId, outOfBand }: Allowance,
  turn: string,
  now: number,
): Subject {
  const id = deterministicId('incident', record.id, turn)
  if (record.incidents.some(known => known.id === id)) return subject
  const incident: IncidentRecord = {
    id,
    code,
    state: 'open',
    connectionId,
    outOfBand,
    openedAt: now,
    resolvedAt: null,
    resolvedBy: null,
    resolution: null,
  }
  const opened = tellStory(
    { ...record, incidents: [...record.incidents, incident] },
    timelineEntry(now, 'incident_opened', id, `Incident ${code} opened`),
    timelineEntry(now, 'alert_sent', incidentAlertId(id, 'incident.opened'), 'Alert incident.opened raised'),
  )
  return tell(subject, opened, incident, 'incident.opened', now)
}

/** How an incident ended: the operation whose late arrival ended it, if one did, and a sentence for a person. */
export interface Resolution {
  readonly by: string | null
  readonly text: string
}

/** The subject with an incident of one of its records resolved, and the messages that tell of it. */
export function resolveIncident(
  subject: Subject,
  record: ActionRecord,
  known: IncidentRecord,
  { by, text }: Resolution,
  now: number,
): Subject {
  const incident: IncidentRecord = { ...known, state: 'resolved', resolvedAt: now, resolvedBy: by, resolution: text }
  const resolved = tellStory(
    { ...record, incidents: record.incidents.map(one => (one.id === incident.id ? incident : one)) },
    timelineEntry(now, 'incident_resolved', incident.id, text),
  )
  return tell(subject, resolved, incident, 'incident.resolved', now)
}

/** The subject in which nothing is open any more that said that nothing explains the record. */
export function resolveUnexpected(
  subject: Subject,
  record: ActionRecord,
  resolution: Resolution,
  now: number,
): Subject {
  const incident = openIncident(record, 'UNEXPECTED_ACTION')
  return incident === undefined ? subject : resolveIncident(subject, record, incident, resolution, now)
}

function tell(
  subject: Subject,
  record: ActionRecord,
  incident: IncidentRecord,
  event: 'incident.opened' | 'incident.resolved',
  now: number,
): Subject {
  const next = withRecord(subject, record)
  const entries = [incidentEntry(next, record, incident, now), alertEntry(next, record, incident, event, now)]
  return { ...next, outbox: [...next.outbox, ...entries] }
}
