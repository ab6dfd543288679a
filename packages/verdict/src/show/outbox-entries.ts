import {
  type Alert,
  type Command,
  type Difference,
  deterministicId,
  HEADERS,
  type IncidentEvent,
  type IncidentState,
  incidentAlertId,
  isoTime,
  type Operation,
  type ReadReason,
  type Recheck,
  type Reread,
  sendAt,
  showOperation,
} from '@backstop/contracts'
import type { ActionRecord } from '../case/action-record.ts'
import type { Case, CaseOutboxEntry } from '../case/case.ts'
import { eraseInRecord, mayAlertPersonalData } from '../case/erase-personal-data.ts'
import type { IncidentRecord } from '../case/incident-record.ts'
import { stateOf } from '../case/timeline.ts'
import type { ProviderQuestion } from '../case/whom-to-ask.ts'
import { projectAction, projectIncident } from './projection.ts'

/** The messages of a decision. Their ids are deterministic, so a repeated decision creates the same ids. */

export function recheckEntry(theCase: Case, lookId: string, dueAt: number, now: number): CaseOutboxEntry {
  const message: Recheck = {
    project_id: theCase.projectId,
    ref: refOf(theCase),
    look_id: lookId,
    due_at: isoTime(dueAt),
  }
  const id = deterministicId('message', 'recheck', lookId, String(dueAt))
  return sendAt('rechecks', { id, key: theCase.id, message, at: now }, dueAt)
}

/** Schedules the second look again, for the time when the wait for the provider's answer ends. */
export function unansweredEntry(
  theCase: Case,
  look: { readonly lookId: string; readonly dueAt: number },
  answerByMs: number,
  now: number,
): CaseOutboxEntry {
  const id = deterministicId('message', 'unanswered', look.lookId, String(answerByMs))
  return sendAt('rechecks.unanswered', { ...recheckEntry(theCase, look.lookId, look.dueAt, now), id }, answerByMs)
}

/** A reference that leads the answer back to the case. */
function refOf(theCase: Case): string {
  return theCase.refs[0] ?? ''
}

/**
 * The re-read that a look requests. Its answer triggers the look again.
 * @param answerByMs when the look is judged without the answer, in milliseconds since the epoch; undefined if it waits
 * without a limit
 */
export function rereadEntry(
  theCase: Case,
  look: { readonly lookId: string; readonly dueAt: number },
  { connectionId, provider, targets }: ProviderQuestion,
  reason: ReadReason,
  now: number,
  answerByMs?: number,
): CaseOutboxEntry {
  const message: Reread = {
    reread_id: deterministicId('reread', connectionId, look.lookId, String(look.dueAt)),
    project_id: theCase.projectId,
    connection_id: connectionId,
    provider,
    reason,
    event: null,
    look: { ref: refOf(theCase), look_id: look.lookId, due_at: isoTime(look.dueAt) },
    targets: [...targets],
    first_requested_at: isoTime(now),
    attempt: 1,
    ...(answerByMs === undefined ? {} : { answer_by: isoTime(answerByMs) }),
  }
  return { id: message.reread_id, topic: 'rereads', key: connectionId, message, at: now }
}

/** @param changes how many changes people have made; each gets its own message */
export function incidentMessageId(incidentId: string, state: IncidentState, changes: number): string {
  return deterministicId('message', 'incident', incidentId, state, ...(changes === 0 ? [] : [String(changes)]))
}

export function incidentEntry(
  theCase: Case,
  action: ActionRecord,
  incident: IncidentRecord,
  now: number,
): CaseOutboxEntry {
  return {
    id: incidentMessageId(incident.id, incident.state, incident.lifeCycle?.changes.length ?? 0),
    topic: 'incidents',
    key: incident.id,
    message: projectIncident(theCase, action, incident),
    at: now,
  }
}

export function alertEntry(
  theCase: Case,
  action: ActionRecord,
  incident: IncidentRecord,
  event: IncidentEvent,
  now: number,
): CaseOutboxEntry {
  const names = theCase.names?.[incident.connectionId]
  const reopened = incident.lifeCycle?.reopened ?? 0
  const entry = toAlertEntry(theCase, now, {
    alert_id: incidentAlertId(incident.id, event, reopened),
    event,
    data: {
      incident: projectIncident(theCase, action, incident),
      action: alertedAction(theCase, action, now),
      ...(names === undefined ? {} : { names }),
    },
  })
  // The notifier measures from here to the delivery. Later alerts about the incident answer to people, not to a notification.
  const isFirst = event === 'incident.opened' && reopened === 0
  return isFirst ? { ...entry, headers: { [HEADERS.receivedAt]: String(action.firstSeenAt) } } : entry
}

/** An alert about an old action has no personal data, because deliveries keep a copy of the alert. */
function alertedAction(theCase: Case, action: ActionRecord, now: number) {
  const isOld = !mayAlertPersonalData(action.firstSeenAt, now)
  return projectAction(theCase, isOld ? eraseInRecord(action) : action)
}

/** @param action null if the provider shows no action for the operation */
export function driftEntry(
  theCase: Case,
  operation: Operation,
  action: ActionRecord | null,
  differences: readonly Difference[],
  now: number,
): CaseOutboxEntry {
  return toAlertEntry(theCase, now, {
    alert_id: driftAlertId(operation.operation_id, differences),
    event: 'drift.detected',
    data: {
      operation: showOperation(operation),
      action: action === null ? null : alertedAction(theCase, action, now),
      differences: [...differences],
    },
  })
}

/** The alert id for a set of differing fields. */
export function driftAlertId(operationId: string, differences: readonly Difference[]): string {
  return deterministicId('alert', 'drift', operationId, ...differences.map(difference => difference.field).sort())
}

type AlertContent = Alert extends infer One
  ? One extends Alert
    ? Omit<One, 'project_id' | 'created_at'>
    : never
  : never

function toAlertEntry(theCase: Case, now: number, content: AlertContent): CaseOutboxEntry {
  const message = { ...content, project_id: theCase.projectId, created_at: isoTime(now) } as Alert
  return { id: message.alert_id, topic: 'alerts', key: theCase.projectId, message, at: now }
}

/** The command to record the provider's decision about an operation in the ledger. */
export function finishOperationEntry(
  theCase: Case,
  operation: Operation,
  to: 'completed' | 'failed' | 'rejected',
  action: ActionRecord,
  now: number,
): CaseOutboxEntry {
  const command: Command = {
    command_id: deterministicId('command', 'settle', operation.operation_id, to),
    project_id: theCase.projectId,
    requested_at: isoTime(now),
    kind: 'settle_operation',
    operation_id: operation.operation_id,
    to,
    // A match by amount and time is uncertain, and the ledger cannot change a provider reference later. So the
    // reference is left out.
    provider_ref: action.reason === 'amount_and_time_match' ? null : action.providerRef,
    reason: `The provider shows ${action.providerRef} as ${stateOf(action)}`,
  }
  return { id: command.command_id, topic: 'commands', key: operation.operation_id, message: command, at: now }
}
