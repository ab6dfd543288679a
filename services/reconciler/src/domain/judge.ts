import type { VerdictReason } from '@backstop/contracts'
import { expectedChangeFor } from './expected-change.ts'
import { type Assignment, assignOperations, endOfItself, explainedByObservation } from './explain.ts'
import { openIncidentAbout, resolveUnexpected } from './incidents.ts'
import { recheckEntry } from './outgoing.ts'
import { type ConnectionPolicy, permissionToAlert } from './policy.ts'
import { type ActionRecord, isJudged, type Subject, withRecord } from './subject.ts'
import { tellStory, timelineEntry } from './timeline.ts'
import { ruleOf } from './why.ts'

/** Gives every action of the subject the verdict that the facts now allow. A first look, and every later change of facts. */
export function judgeSubject(subject: Subject, now: number, recheckDelayMs: number): Subject {
  const assigned = assignOperations(subject.actions, subject.operations)
  return subject.actions.reduce(
    (next, { id }) => judgeAction(next, recordOf(next, id), assigned.get(id), now, recheckDelayMs),
    subject,
  )
}

function recordOf(subject: Subject, id: string): ActionRecord {
  const record = subject.actions.find(action => action.id === id)
  if (record === undefined) throw new Error(`The subject has no action ${id}`)
  return record
}

function judgeAction(
  subject: Subject,
  action: ActionRecord,
  assignment: Assignment | undefined,
  now: number,
  recheckDelayMs: number,
): Subject {
  if (!isJudged(action)) return settleAs(subject, action, 'not_alerted', 'kind_is_not_judged', now)
  if (assignment !== undefined) {
    const { operation, reason } = assignment
    const made = { ...action, operationId: operation.operation_id, expectedChangeId: null }
    return settleAs(subject, made, 'explained', reason, now, action)
  }
  const plain: ActionRecord = { ...action, operationId: null, expectedChangeId: null }
  const observed = explainedByObservation(action)
  if (observed !== null) return settleAs(subject, plain, 'explained', observed, now, action)
  const ended = endOfItself(action)
  if (ended !== null) return settleAs(subject, plain, 'not_alerted', ended, now, action)
  const expected = expectedChangeFor(action, subject.notes)
  if (expected !== undefined) {
    const noted = { ...plain, expectedChangeId: expected.id }
    return settleAs(subject, noted, 'explained', 'expected_change_matches', now, action)
  }
  return whyLookAgain(action) === null ? subject : armLook(subject, action, now, recheckDelayMs)
}

/** Why an action that nothing explains has to wait for a look of its own; null where it has had it, or waits for it. */
function whyLookAgain(action: ActionRecord): 'new' | 'explanation_lost' | 'ended_by_somebody' | 'other_setting' | null {
  if (action.verdict === 'explained') return 'explanation_lost'
  if (action.look === null) return 'new'
  if (action.verdict !== 'not_alerted') return null
  if (action.reason === 'involuntary_end' || action.reason === 'plan_ended') return 'ended_by_somebody'
  // Its first connection was quiet about it; now another shows it, too, and the stricter setting counts.
  return action.seenThrough.some(({ id }) => !action.quietFor.includes(id)) ? 'other_setting' : null
}

/** First sight, or an operation that turned out to have made something else: the minute of grace begins. */
function armLook(subject: Subject, action: ActionRecord, now: number, recheckDelayMs: number): Subject {
  const dueAt = now + recheckDelayMs
  const armed: ActionRecord = {
    ...action,
    verdict: 'pending',
    reason: 'awaiting_second_look',
    operationId: null,
    expectedChangeId: null,
    look: { dueAt, askedAt: null, doneAt: null },
  }
  const lost = timelineEntry(now, 'explanation_lost', action.operationId, lostText(action))
  const next = withRecord(subject, action.verdict === 'explained' ? tellStory(armed, lost) : armed)
  return { ...next, outbox: [...next.outbox, recheckEntry(subject, action.id, dueAt, now)] }
}

function lostText(action: ActionRecord): string {
  return action.operationId === null
    ? 'What explained it does not hold any more'
    : `Operation ${action.operationId} turned out not to have made it`
}

/**
 * The subject with a verdict that needs no look, and without an incident that says otherwise.
 * @param before the record as it was: what is said already is not said again
 */
function settleAs(
  subject: Subject,
  action: ActionRecord,
  verdict: 'explained' | 'not_alerted',
  reason: VerdictReason,
  now: number,
  before: ActionRecord = action,
): Subject {
  const { operationId } = action
  const isSaid = before.verdict === verdict && before.reason === reason && before.operationId === operationId
  const settled: ActionRecord = { ...action, verdict, reason }
  const text = ruleOf(settled)
  const what = verdict === 'explained' ? 'explained' : 'second_look'
  const told = isSaid || !isJudged(action) ? settled : tellStory(settled, timelineEntry(now, what, operationId, text))
  const by = operationId === null ? text : `Operation ${operationId} made it`
  const next = isSaid ? subject : withRecord(subject, told)
  return resolveUnexpected(next, action.id, { by: operationId, text: by }, now)
}

/** What the second look at one action knows. */
export interface SecondLook {
  readonly policies: readonly ConnectionPolicy[]
  readonly readBack: ActionRecord['readBack']
}

/** The second look at one action that is still pending: the verdict that people hear of. */
export function judgeAtSecondLook(subject: Subject, action: ActionRecord, look: SecondLook, now: number): Subject {
  const looked: ActionRecord = {
    ...action,
    look: action.look === null ? null : { ...action.look, doneAt: now },
    readBack: look.readBack,
  }
  const permission = permissionToAlert(look.policies)
  const verdict: Pick<ActionRecord, 'verdict' | 'reason' | 'quietFor'> =
    permission.kind === 'quiet'
      ? { verdict: 'not_alerted', reason: permission.reason, quietFor: action.seenThrough.map(({ id }) => id) }
      : { verdict: 'unexplained', reason: 'nothing_explains_it', quietFor: [] }
  const judged = { ...looked, ...verdict }
  const told = tellStory(judged, timelineEntry(now, 'second_look', null, ruleOf(judged)))
  const next = withRecord(subject, told)
  if (permission.kind === 'quiet') return next
  // A later incident of the same action (its explanation was lost) is another one.
  const turn = String(action.look?.dueAt ?? now)
  return openIncidentAbout(next, told, 'UNEXPECTED_ACTION', permission, turn, now)
}
