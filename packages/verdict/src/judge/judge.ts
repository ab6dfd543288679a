import {
  type ActionRecord,
  type ExemptVerdict,
  type ExplainedVerdict,
  type Look,
  needsVerdict,
  openIncident,
  type Pending,
} from '../case/action-record.ts'
import { type Case, withRecord } from '../case/case.ts'
import { type ConnectionPolicy, lookedConnections } from '../case/connection-policy.ts'
import type { DecisionContext } from '../case/decision-context.ts'
import { denialReasonOf } from '../case/denial.ts'
import { addToTimeline, timelineEntry } from '../case/timeline.ts'
import { type Assignment, assignOperations } from '../explain/assign-operations.ts'
import { describeWait } from '../explain/awaited-operation.ts'
import { expectedChangeFor } from '../explain/cover-actions.ts'
import { explainedByEvidence, providerReasonOf } from '../explain/operation-match.ts'
import { permissionToAlert } from '../explain/out-of-band.ts'
import { ruleOf } from '../explain/why.ts'
import { openIncidentAbout, resolveUnexpectedAction } from '../incident/incidents.ts'
import { scheduleLook, whyLookAgain } from './schedule-look.ts'

/** Gives each action of the case the verdict that the known facts allow. Call it after every change of facts. */
export function judgeCase(theCase: Case, context: DecisionContext): Case {
  const { explained, decideAgainAt } = assignOperations(theCase.actions, theCase.operations, context.now)
  return theCase.actions.reduce((next, action) => {
    const timed = withDecisionTime(next, action, decideAgainAt.get(action.id) ?? null, context.now)
    return judgeAction(timed.theCase, timed.action, explained.get(action.id), context)
  }, theCase)
}

/** Sets when an unexplained action is decided again, and states in its timeline what it waits for. */
function withDecisionTime(theCase: Case, action: ActionRecord, at: number | null, now: number) {
  if (action.verdict !== 'unexplained' || (action.decideAgainAt ?? null) === at) return { theCase, action }
  const timed: ActionRecord = { ...action, decideAgainAt: at }
  const wait = describeWait(theCase, timed)
  const recorded =
    wait === undefined
      ? timed
      : addToTimeline(timed, timelineEntry(now, 'second_look', wait.operationId, `Decided again later: ${wait.text}`))
  return { theCase: withRecord(theCase, recorded), action: recorded }
}

function judgeAction(
  theCase: Case,
  action: ActionRecord,
  assignment: Assignment | undefined,
  context: DecisionContext,
): Case {
  const needsNoLook = immediateVerdict(theCase, action, assignment)
  if (needsNoLook !== null) return giveVerdict(theCase, action, needsNoLook, context.now)
  if (action.verdict === 'unexplained') return theCase
  return whyLookAgain(action) === null ? theCase : scheduleLook(theCase, action, context)
}

/** A verdict that can be given without a second look. */
type ImmediateVerdict = ExplainedVerdict | ExemptVerdict

const BY_NOTHING = { operationId: null, expectedChangeId: null, quietFor: [] } as const

/** @returns null if the action needs a second look */
function immediateVerdict(
  theCase: Case,
  action: ActionRecord,
  assignment: Assignment | undefined,
): ImmediateVerdict | null {
  if (!needsVerdict(action)) return { ...BY_NOTHING, verdict: 'not_alerted', reason: 'kind_is_not_judged' }
  if (assignment !== undefined) {
    const { operation, reason } = assignment
    return { ...BY_NOTHING, verdict: 'explained', reason, operationId: operation.operation_id }
  }
  const evidence = explainedByEvidence(action)
  if (evidence !== null) return { ...BY_NOTHING, verdict: 'explained', reason: evidence }
  const ended = providerReasonOf(action)
  if (ended !== null) return { ...BY_NOTHING, verdict: 'not_alerted', reason: ended }
  const disproved = denialReasonOf(action)
  if (disproved !== null) return { ...BY_NOTHING, verdict: 'not_alerted', reason: disproved }
  const expected = expectedChangeFor(theCase, action)
  if (expected === undefined) return null
  return { ...BY_NOTHING, verdict: 'explained', reason: 'expected_change_matches', expectedChangeId: expected.id }
}

/**
 * Gives a verdict that needs no look, and resolves an open incident. If the verdict is unchanged, nothing is added to
 * the timeline.
 */
function giveVerdict(theCase: Case, action: ActionRecord, to: ImmediateVerdict, now: number): Case {
  const { verdict, reason, operationId, expectedChangeId } = to
  const isUnchanged =
    action.verdict === verdict &&
    action.reason === reason &&
    action.operationId === operationId &&
    action.expectedChangeId === expectedChangeId
  if (isUnchanged && openIncident(action, 'UNEXPECTED_ACTION') === undefined) return theCase
  const judged: ActionRecord =
    action.verdict === 'unexplained' ? { ...action, ...to, decideAgainAt: null } : { ...action, ...to }
  const text = ruleOf(judged)
  const what = verdict === 'explained' ? 'explained' : 'second_look'
  const recorded =
    isUnchanged || !needsVerdict(action) ? judged : addToTimeline(judged, timelineEntry(now, what, operationId, text))
  return resolveUnexpectedAction(withRecord(theCase, recorded), recorded, { by: operationId, text }, now)
}

/** Gives the verdict of an alerted action of which the provider says afterwards that it does not know it. All other verdicts stay. */
export function judgeDenial(theCase: Case, action: ActionRecord, now: number): Case {
  const reason = denialReasonOf(action)
  return reason === null
    ? theCase
    : giveVerdict(theCase, action, { ...BY_NOTHING, verdict: 'not_alerted', reason }, now)
}

/** The facts that a second look adds. */
export interface SecondLookFacts {
  readonly policies: readonly ConnectionPolicy[]
  readonly readBack: ActionRecord['readBack']
}

/** Gives the final verdict of a pending action at its second look, and opens an incident if its settings alert. */
export function judgeAtSecondLook(
  theCase: Case,
  action: ActionRecord & Pending,
  look: Look,
  { policies, readBack }: SecondLookFacts,
  now: number,
): Case {
  const { dueAt, askedAt } = look
  const connections = lookedConnections(policies)
  const looked = { ...action, look: { dueAt, askedAt, doneAt: now, connections }, readBack }
  const permission = permissionToAlert(connections)
  const judged: ActionRecord =
    permission.kind === 'quiet'
      ? {
          ...looked,
          verdict: 'not_alerted',
          reason: permission.reason,
          quietFor: action.seenThrough.map(({ id }) => id),
        }
      : { ...looked, verdict: 'unexplained', reason: 'nothing_explains_it' }
  const recorded = addToTimeline(judged, timelineEntry(now, 'second_look', null, ruleOf(judged)))
  const next = withRecord(theCase, recorded)
  if (permission.kind === 'quiet') return next
  // The due time identifies the incident, so a later second look of the same action opens a new one.
  const { connectionId, outOfBand } = permission
  return openIncidentAbout(next, recorded, { code: 'UNEXPECTED_ACTION', connectionId, outOfBand }, String(dueAt), now)
}
