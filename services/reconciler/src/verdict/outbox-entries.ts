import {
  type Alert,
  type Command,
  type Difference,
  deterministicId,
  HEADERS,
  incidentAlertId,
  isoTime,
  type Operation,
  type ReadReason,
  type Recheck,
  type Reread,
  showOperation,
} from '@backstop/contracts'
import type { ActionRecord, IncidentRecord } from '../case/action-record.ts'
import type { Case, CaseOutboxEntry } from '../case/case.ts'
import type { Asking } from '../case/whom-to-ask.ts'
import { projectAction, projectIncident } from './projection.ts'

/** The messages that a decision causes. Their ids follow from what they are about, so a repeat carries the same id. */

export function recheckEntry(theCase: Case, lookId: string, dueAt: number, now: number): CaseOutboxEntry {
  const message: Recheck = {
    project_id: theCase.projectId,
    ref: refOf(theCase),
    look_id: lookId,
    due_at: isoTime(dueAt),
  }
  return {
    id: deterministicId('message', 'recheck', lookId, String(dueAt)),
    topic: 'rechecks',
    key: theCase.id,
    message,
    headers: { [HEADERS.dueAt]: String(dueAt) },
    at: now,
  }
}

/** Brings a look back when the time for the provider's answer is over. */
export function unansweredEntry(
  theCase: Case,
  look: { readonly lookId: string; readonly dueAt: number },
  answerByMs: number,
  now: number,
): CaseOutboxEntry {
  return {
    ...recheckEntry(theCase, look.lookId, look.dueAt, now),
    id: deterministicId('message', 'unanswered', look.lookId, String(answerByMs)),
    topic: 'rechecks.unanswered',
    headers: { [HEADERS.dueAt]: String(answerByMs) },
  }
}

/** The reference by which an answer finds the case again. */
function refOf(theCase: Case): string {
  return theCase.refs[0] ?? ''
}

/**
 * The question that a look puts to the provider; its answer brings the look back.
 * @param answerByMs when the look is judged without the answer; left out where it is not
 */
export function rereadEntry(
  theCase: Case,
  look: { readonly lookId: string; readonly dueAt: number },
  { connectionId, provider, targets }: Asking,
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

export function incidentEntry(
  theCase: Case,
  action: ActionRecord,
  incident: IncidentRecord,
  now: number,
): CaseOutboxEntry {
  return {
    id: deterministicId('message', 'incident', incident.id, incident.state),
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
  event: 'incident.opened' | 'incident.resolved',
  now: number,
): CaseOutboxEntry {
  return alert(theCase, now, {
    alert_id: incidentAlertId(incident.id, event),
    event,
    data: { incident: projectIncident(theCase, action, incident), action: projectAction(theCase, action) },
  })
}

/** @param action null where the provider knows of none */
export function driftEntry(
  theCase: Case,
  operation: Operation,
  action: ActionRecord | null,
  differences: readonly Difference[],
  now: number,
): CaseOutboxEntry {
  return alert(theCase, now, {
    alert_id: driftAlertId(operation.operation_id, differences),
    event: 'drift.detected',
    data: {
      operation: showOperation(operation),
      action: action === null ? null : projectAction(theCase, action),
      differences: [...differences],
    },
  })
}

/** One alert for one set of fields that differ. */
export function driftAlertId(operationId: string, differences: readonly Difference[]): string {
  return deterministicId('alert', 'drift', operationId, ...differences.map(difference => difference.field).sort())
}

type AlertContent = Alert extends infer One
  ? One extends Alert
    ? Omit<One, 'project_id' | 'created_at'>
    : never
  : never

function alert(theCase: Case, now: number, untold: AlertContent): CaseOutboxEntry {
  const message = { ...untold, project_id: theCase.projectId, created_at: isoTime(now) } as Alert
  return { id: message.alert_id, topic: 'alerts', key: theCase.projectId, message, at: now }
}

/** The wish that the ledger ends an operation as its provider decided. */
export function finishEntry(
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
    // A match by amount and time is a guess: the ledger would keep its name for good, though a nearer refund may yet arrive.
    provider_ref: action.reason === 'amount_and_time_match' ? null : action.providerRef,
    reason: `The provider shows ${action.providerRef} as ${action.state.replaceAll('_', ' ')}`,
  }
  return { id: command.command_id, topic: 'commands', key: operation.operation_id, message: command, at: now }
}
