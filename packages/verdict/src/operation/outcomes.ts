import type { ObjectState, Operation } from '@backstop/contracts'
import type { ActionRecord } from '../case/action-record.ts'
import { type Case, type FollowedOperation, withMessages, withRecord } from '../case/case.ts'
import { addToTimeline, timelineEntry } from '../case/timeline.ts'
import { openIncidentAbout } from '../incident/incidents.ts'
import { finishOperationEntry } from '../show/outbox-entries.ts'
import { followedOperation, withFollowedOperation } from './followed-operation.ts'

/** The outcome of an operation in review, by the state of its refund. States without an entry are undecided. */
const OUTCOME_OF: Partial<Record<ObjectState, NonNullable<FollowedOperation['outcome']>>> = {
  succeeded: 'completed',
  rejected: 'rejected',
  failed: 'failed',
  canceled: 'failed',
}

/**
 * Records the provider's decision about refunds: an operation in review gets its outcome once, and a rejected refund
 * opens an incident.
 */
export function recordOutcomes(theCase: Case, now: number): Case {
  // Shortcut: most refunds are not reviewed.
  const isInReview = theCase.operations.some(({ state }) => state === 'awaiting_review')
  if (!isInReview && !theCase.actions.some(({ state }) => state === 'rejected')) return theCase
  const operations = new Map(theCase.operations.map(operation => [operation.operation_id, operation]))
  const made = Map.groupBy(
    theCase.actions.filter(({ kind, operationId }) => kind === 'refund' && operations.has(operationId ?? '')),
    ({ operationId }) => operationId,
  )
  return [...made].reduce((next, [operationId, refunds]) => {
    const rejected = refunds.filter(({ state }) => state === 'rejected')
    const reported = rejected.reduce((current, action) => reportRejection(current, action, now), next)
    const operation = operations.get(operationId ?? '')
    return operation?.state === 'awaiting_review' ? recordOutcome(reported, operation, refunds, now) : reported
  }, theCase)
}

/**
 * @param refunds the refunds of the operation. It has an outcome once all of them are decided: completed if any refund
 * moved money.
 */
function recordOutcome(theCase: Case, operation: Operation, refunds: readonly ActionRecord[], now: number): Case {
  const decided = refunds.flatMap(action => {
    const to = action.isRelease ? 'completed' : OUTCOME_OF[action.state]
    return to === undefined ? [] : [{ action, to }]
  })
  const outcome = decided.find(({ to }) => to === 'completed') ?? decided[0]
  if (outcome === undefined || decided.length < refunds.length) return theCase
  const { action, to } = outcome
  const known = followedOperation(theCase, operation.operation_id)
  if (known.outcome === to) return theCase
  const record = theCase.actions.find(({ id }) => id === action.id) ?? action
  const text = `Operation ${operation.operation_id} ended as ${to}`
  const recorded = withRecord(
    theCase,
    addToTimeline(record, timelineEntry(now, 'settled', operation.operation_id, text)),
  )
  const followed = withFollowedOperation(recorded, { ...known, outcome: to })
  return withMessages(followed, finishOperationEntry(theCase, operation, to, action, now))
}

function reportRejection(theCase: Case, action: ActionRecord, now: number): Case {
  const connectionId = action.seenThrough[0]?.id
  if (connectionId === undefined) return theCase
  const reason = { code: 'REFUND_REJECTED', connectionId, outOfBand: null } as const
  return openIncidentAbout(theCase, action, reason, 'REFUND_REJECTED', now)
}
