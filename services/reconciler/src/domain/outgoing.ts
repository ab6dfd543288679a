import { type Alert, deterministicId, HEADERS, incidentAlertId, type Recheck } from '@backstop/contracts'
import { isoTime, projectAction, projectIncident } from './projection.ts'
import type { ActionRecord, IncidentRecord, Subject, SubjectOutboxEntry } from './subject.ts'

/** The messages that a decision causes. Their ids follow from what they are about, so a repeat carries the same id. */

export function recheckEntry(subject: Subject, lookId: string, dueAt: number, now: number): SubjectOutboxEntry {
  const message: Recheck = {
    project_id: subject.projectId,
    ref: subject.refs[0] ?? '',
    look_id: lookId,
    due_at: isoTime(dueAt),
  }
  return {
    id: deterministicId('message', 'recheck', lookId, String(dueAt)),
    topic: 'rechecks',
    key: subject.id,
    message,
    headers: { [HEADERS.dueAt]: String(dueAt) },
    at: now,
  }
}

export function incidentEntry(
  subject: Subject,
  action: ActionRecord,
  incident: IncidentRecord,
  now: number,
): SubjectOutboxEntry {
  return {
    id: deterministicId('message', 'incident', incident.id, incident.state),
    topic: 'incidents',
    key: incident.id,
    message: projectIncident(subject, action, incident),
    at: now,
  }
}

export function alertEntry(
  subject: Subject,
  action: ActionRecord,
  incident: IncidentRecord,
  event: 'incident.opened' | 'incident.resolved',
  now: number,
): SubjectOutboxEntry {
  const message: Alert = {
    alert_id: incidentAlertId(incident.id, event),
    project_id: subject.projectId,
    created_at: isoTime(now),
    event,
    data: { incident: projectIncident(subject, action, incident), action: projectAction(subject, action) },
  }
  return { id: message.alert_id, topic: 'alerts', key: subject.projectId, message, at: now }
}
