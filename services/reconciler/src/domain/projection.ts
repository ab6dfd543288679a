import { type Action, formatMoney, type Incident, type TimelineEntry } from '@backstop/contracts'
import type { ActionRecord, IncidentRecord, Subject } from './subject.ts'

/** Milliseconds since the epoch as ISO 8601. */
export function isoTime(at: number): string {
  return new Date(at).toISOString()
}

/** One line of a story, for a person. */
export function timelineEntry(at: number, what: TimelineEntry['what'], id: string | null, text: string): TimelineEntry {
  return { at: isoTime(at), what, id, text }
}

/** The action as lists, alerts and the API show it. */
export function projectAction(subject: Subject, action: ActionRecord): Action {
  return {
    action_id: action.id,
    project_id: subject.projectId,
    connection_id: action.seenThrough[0]?.id ?? '',
    connection_ids: action.seenThrough.map(connection => connection.id),
    provider: action.provider,
    kind: action.kind,
    subject: action.subject,
    provider_ref: action.providerRef,
    amount: action.amount,
    currency: action.currency,
    state: action.state,
    provider_created_at: isoTime(action.providerCreatedAt),
    first_seen_at: isoTime(action.firstSeenAt),
    second_look_at: action.look === null ? null : isoTime(action.look.dueAt),
    verdict: action.verdict,
    reason: action.reason,
    operation_id: action.operationId,
    incident_id: action.incident?.id ?? null,
    event_ids: [...action.eventIds],
    timeline: [...action.timeline],
    version: subject.version,
  }
}

/** The incident of an action as lists, alerts and the API show it. */
export function projectIncident(subject: Subject, action: ActionRecord, incident: IncidentRecord): Incident {
  return {
    incident_id: incident.id,
    project_id: subject.projectId,
    connection_id: incident.connectionId,
    code: 'UNEXPECTED_ACTION',
    state: incident.state,
    summary: summaryOf(action, incident),
    action_id: action.id,
    out_of_band: incident.outOfBand,
    opened_at: isoTime(incident.openedAt),
    resolved_at: incident.resolvedAt === null ? null : isoTime(incident.resolvedAt),
    resolved_by: incident.resolvedBy,
    version: subject.version,
  }
}

/** What happened, in one sentence for a person. */
function summaryOf(action: ActionRecord, incident: IncidentRecord): string {
  const money = formatMoney(action.amount, action.currency)
  const what = money === null ? `A ${action.kind}` : `A ${action.kind} of ${money}`
  if (incident.state !== 'resolved') {
    return `${what} on ${action.subject} was made at the provider, and no operation of yours explains it`
  }
  const by =
    incident.resolvedBy === null ? 'it was made before the connection' : `operation ${incident.resolvedBy} made it`
  return `${what} on ${action.subject} is explained after all: ${by}`
}
