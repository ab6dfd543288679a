import { deterministicId, incidentAlertId } from '@backstop/contracts'
import { type Assignment, assignOperations, madeBeforeConnection } from './explain.ts'
import { alertEntry, incidentEntry, recheckEntry } from './outgoing.ts'
import { type ConnectionPolicy, permissionToAlert } from './policy.ts'
import { timelineEntry } from './projection.ts'
import type { ActionRecord, IncidentRecord, Subject, SubjectOutboxEntry } from './subject.ts'

/** What a verdict became, and the messages that go with it. */
interface Judged {
  readonly action: ActionRecord
  readonly outbox: readonly SubjectOutboxEntry[]
}

const EXPLAINED_TEXT = {
  provider_ref_matches: (id: string) => `Operation ${id} names this very object`,
  idempotency_key_matches: (id: string) => `Operation ${id} sent the idempotency key of this request`,
  amount_and_time_match: (id: string) => `Operation ${id} agrees in kind, subject, amount, currency and time`,
} as const

/** Gives every action of the subject the verdict that the facts now allow. A first look, and every later change of facts. */
export function judgeSubject(subject: Subject, now: number, recheckDelayMs: number): Subject {
  const assigned = assignOperations(subject.actions, subject.operations)
  const outbox: SubjectOutboxEntry[] = []
  const actions = subject.actions.map(action => {
    const judged = judgeAction(subject, action, assigned.get(action.id), now, recheckDelayMs)
    outbox.push(...judged.outbox)
    return judged.action
  })
  return { ...subject, actions, outbox: [...subject.outbox, ...outbox] }
}

function judgeAction(
  subject: Subject,
  action: ActionRecord,
  assignment: Assignment | undefined,
  now: number,
  recheckDelayMs: number,
): Judged {
  if (assignment !== undefined) return explainByOperation(subject, action, assignment, now)
  if (madeBeforeConnection(action)) return explainByAge(subject, action, now)
  const lostExplanation = action.verdict === 'explained'
  if (action.look !== null && !lostExplanation) return { action, outbox: [] }
  // First sight, or an operation that turned out to have made something else: the minute of grace begins.
  const dueAt = now + recheckDelayMs
  const lost = timelineEntry(now, 'explanation_lost', action.operationId, lostText(action))
  return {
    action: {
      ...action,
      verdict: 'pending',
      reason: 'awaiting_second_look',
      operationId: null,
      look: { dueAt, doneAt: null },
      timeline: lostExplanation ? [...action.timeline, lost] : action.timeline,
    },
    outbox: [recheckEntry(subject, action.id, dueAt, now)],
  }
}

function lostText(action: ActionRecord): string {
  return action.operationId === null
    ? 'It was not made before every connection that shows it'
    : `Operation ${action.operationId} turned out to have made another one`
}

function explainByOperation(subject: Subject, action: ActionRecord, assignment: Assignment, now: number): Judged {
  const { operation, reason } = assignment
  if (action.verdict === 'explained' && action.operationId === operation.operation_id && action.reason === reason) {
    return { action, outbox: [] }
  }
  const text = EXPLAINED_TEXT[reason](operation.operation_id)
  const explained: ActionRecord = {
    ...action,
    verdict: 'explained',
    reason,
    operationId: operation.operation_id,
    timeline: [...action.timeline, timelineEntry(now, 'explained', operation.operation_id, text)],
  }
  return resolveIncident(subject, explained, operation.operation_id, now)
}

function explainByAge(subject: Subject, action: ActionRecord, now: number): Judged {
  if (action.verdict === 'explained' && action.reason === 'made_before_connection') return { action, outbox: [] }
  const text = 'The provider made it before the connection was made'
  const explained: ActionRecord = {
    ...action,
    verdict: 'explained',
    reason: 'made_before_connection',
    operationId: null,
    timeline: [...action.timeline, timelineEntry(now, 'explained', null, text)],
  }
  return resolveIncident(subject, explained, null, now)
}

/** An explanation that comes after the alert closes the incident by itself, and says so. */
function resolveIncident(subject: Subject, action: ActionRecord, operationId: string | null, now: number): Judged {
  if (action.incident === null || action.incident.state === 'resolved') return { action, outbox: [] }
  const incident: IncidentRecord = { ...action.incident, state: 'resolved', resolvedAt: now, resolvedBy: operationId }
  const text = operationId === null ? 'An explanation arrived' : `Operation ${operationId} explains it after all`
  const resolved = {
    ...action,
    incident,
    timeline: [...action.timeline, timelineEntry(now, 'incident_resolved', incident.id, text)],
  }
  return {
    action: resolved,
    outbox: [
      incidentEntry(subject, resolved, incident, now),
      alertEntry(subject, resolved, incident, 'incident.resolved', now),
    ],
  }
}

const QUIET_TEXT = {
  out_of_band_ignore: 'Nothing explains it; the connection is set to ignore such changes',
  auto_before_first_operation:
    'Nothing explains it; the connection is set to auto, and no operation has acted on this account yet',
  connection_deleted: 'Nothing explains it; the connection was deleted in the meantime',
} as const

/** The second look at one action that is still pending: the verdict that people hear of. */
export function judgeAtSecondLook(
  subject: Subject,
  action: ActionRecord,
  policies: readonly ConnectionPolicy[],
  now: number,
): Judged {
  const permission = permissionToAlert(policies)
  const looked: ActionRecord = {
    ...action,
    look: action.look === null ? null : { ...action.look, doneAt: now },
  }
  if (permission.kind === 'quiet') {
    const entry = timelineEntry(now, 'second_look', null, QUIET_TEXT[permission.reason])
    return {
      action: { ...looked, verdict: 'not_alerted', reason: permission.reason, timeline: [...looked.timeline, entry] },
      outbox: [],
    }
  }
  const incident: IncidentRecord = {
    // A later incident of the same action (its explanation was lost) is another one.
    id: deterministicId('incident', action.id, String(action.look?.dueAt ?? now)),
    state: 'open',
    connectionId: permission.connectionId,
    outOfBand: permission.outOfBand,
    openedAt: now,
    resolvedAt: null,
    resolvedBy: null,
  }
  const opened: ActionRecord = {
    ...looked,
    verdict: 'unexplained',
    reason: 'nothing_explains_it',
    incident,
    timeline: [
      ...looked.timeline,
      timelineEntry(now, 'second_look', null, 'Nothing explains it'),
      timelineEntry(now, 'incident_opened', incident.id, 'Incident UNEXPECTED_ACTION opened'),
      timelineEntry(now, 'alert_sent', incidentAlertId(incident.id, 'incident.opened'), 'Alert incident.opened raised'),
    ],
  }
  return {
    action: opened,
    outbox: [
      incidentEntry(subject, opened, incident, now),
      alertEntry(subject, opened, incident, 'incident.opened', now),
    ],
  }
}
