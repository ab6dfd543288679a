import {
  deterministicId,
  type IncidentEvent,
  incidentAlertId,
  isHeartbeatProject,
  type OutOfBand,
  type RefundedTwice,
} from '@backstop/contracts'
import { type ActionRecord, openIncident } from '../case/action-record.ts'
import { type Case, withMessages, withRecord } from '../case/case.ts'
import type { IncidentRecord } from '../case/incident-record.ts'
import { addToTimeline, timelineEntry } from '../case/timeline.ts'
import { alertEntry, incidentEntry } from '../show/outbox-entries.ts'

/** The fault that an incident reports, and the setting that allowed it. */
export type IncidentCause =
  | { readonly code: 'UNEXPECTED_ACTION'; readonly connectionId: string; readonly outOfBand: OutOfBand }
  | { readonly code: 'REFUND_REJECTED' | 'CANARY_USED'; readonly connectionId: string; readonly outOfBand: null }
  | {
      readonly code: 'REFUNDED_TWICE'
      readonly connectionId: string
      readonly outOfBand: OutOfBand
      readonly refundedTwice: RefundedTwice
    }

/**
 * Opens an incident about a record, and adds its messages.
 * @param occasion identifies the incident among those of the record. A second call with the same value does nothing
 */
export function openIncidentAbout(
  theCase: Case,
  record: ActionRecord,
  reason: IncidentCause,
  occasion: string,
  now: number,
): Case {
  const id = deterministicId('incident', record.id, occasion)
  if (record.incidents.some(known => known.id === id) || wasClosedByPerson(record, reason.code)) return theCase
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

/** True if the record's last incident with the code was resolved by a person, whose decision stands. */
function wasClosedByPerson({ incidents }: ActionRecord, code: IncidentRecord['code']): boolean {
  const last = incidents.findLast(incident => incident.code === code)
  return last?.state === 'resolved' && last.lifeCycle?.reason != null
}

/** The end of an incident: the operation that explained the action, if any, and a text for people. */
export interface Resolution {
  readonly by: string | null
  readonly text: string
}

/** Resolves an incident of a record, and adds its messages. */
export function resolveIncident(
  theCase: Case,
  record: ActionRecord,
  known: IncidentRecord,
  { by, text }: Resolution,
  now: number,
): Case {
  const incident: IncidentRecord = { ...known, state: 'resolved', resolvedAt: now, resolvedBy: by, resolution: text }
  const resolved = addToTimeline(
    { ...record, incidents: record.incidents.map(other => (other.id === incident.id ? incident : other)) },
    timelineEntry(now, 'incident_resolved', incident.id, text),
  )
  return withIncident(theCase, resolved, incident, 'incident.resolved', now)
}

/** Resolves the record's open UNEXPECTED_ACTION incident, if there is one. */
export function resolveUnexpectedAction(
  theCase: Case,
  record: ActionRecord,
  resolution: Resolution,
  now: number,
): Case {
  const incident = openIncident(record, 'UNEXPECTED_ACTION')
  return incident === undefined ? theCase : resolveIncident(theCase, record, incident, resolution, now)
}

function withIncident(
  theCase: Case,
  record: ActionRecord,
  incident: IncidentRecord,
  event: IncidentEvent,
  now: number,
): Case {
  return withIncidentMessages(withRecord(theCase, record), record, incident, event, now)
}

/** Adds the messages about a changed incident. @param event the alert to raise; null for none */
export function withIncidentMessages(
  theCase: Case,
  record: ActionRecord,
  incident: IncidentRecord,
  event: IncidentEvent | null,
  now: number,
): Case {
  // Compaction keeps the last message of each incident for ever, so those of heartbeats are not on the topic.
  const messages = isHeartbeatProject(theCase.projectId) ? [] : [incidentEntry(theCase, record, incident, now)]
  const alerts = event === null ? [] : [alertEntry(theCase, record, incident, event, now)]
  return withMessages(theCase, ...messages, ...alerts)
}
