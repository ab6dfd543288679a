import { type Difference, formatMoney, type Operation, type OperationState } from '@backstop/contracts'
import type { ActionRecord } from '../case/action-record.ts'
import { type Case, withMessages, withRecord } from '../case/case.ts'
import { addToTimeline, timelineEntry } from '../case/timeline.ts'
import { driftAlertId, driftEntry } from '../show/outbox-entries.ts'
import { followedOperation, withFollowedOperation } from './followed-operation.ts'
import { contradictedTarget } from './named-target.ts'

/** The differences between an operation and the provider's data of the action that it explains. */
export function differencesOf(operation: Operation, action: ActionRecord): readonly Difference[] {
  const differences: Difference[] = []
  const differ = (field: Difference['field'], said: string, shown: string) =>
    differences.push({ field, operation_says: said, provider_says: shown })
  // A credit note may be paid out by several refunds, so the amount of one refund may be lower than that of the
  // operation.
  const isPart = action.reason === 'credit_note_matches'
  if (!isPart && operation.amount !== null && action.amount !== null && operation.amount !== action.amount) {
    // An operation without a currency has the currency of its payment.
    differ(
      'amount',
      formatMoney(operation.amount, operation.currency ?? action.currency) ?? String(operation.amount),
      formatMoney(action.amount, action.currency) ?? String(action.amount),
    )
  }
  if (operation.currency !== null && action.currency !== null && operation.currency !== action.currency) {
    differ('currency', operation.currency, action.currency)
  }
  const contradicted = contradictedTarget(operation, action)
  if (contradicted !== null) differ('subject', operation.subject, contradicted)
  if (contradictsState(operation.state, action)) differ('state', operation.state, action.state)
  return differences
}

/**
 * True if the object's state contradicts the reported state. A refund that was reversed later does not contradict
 * `completed`.
 */
function contradictsState(said: OperationState, { kind, state, isRelease }: ActionRecord): boolean {
  const works = state === 'succeeded' || state === 'scheduled' || isRelease === true
  switch (said) {
    case 'completed':
      return kind === 'refund' && !isRelease && (state === 'failed' || state === 'canceled' || state === 'rejected')
    case 'failed':
      return works || state === 'pending' || state === 'requires_action'
    case 'rejected':
      return works
    case 'requested':
    case 'approval_pending':
    case 'approved':
    case 'declined':
    case 'expired':
    case 'executing':
    case 'awaiting_review':
      return false
    default:
      return said satisfies never
  }
}

/** Updates the differences of each explained action, and adds an alert for new ones. */
export function reportDrift(theCase: Case, now: number): Case {
  const operations = new Map(theCase.operations.map(operation => [operation.operation_id, operation]))
  return theCase.actions.reduce((next, action) => {
    const operation = operations.get(action.operationId ?? '')
    const differences = operation === undefined ? [] : differencesOf(operation, action)
    if (differences.length === 0 && action.differences.length === 0) return next
    const isSame = JSON.stringify(differences) === JSON.stringify(action.differences)
    const compared = isSame ? action : { ...action, differences }
    const seen = isSame ? next : withRecord(next, compared)
    const isReported = operation !== undefined && differences.length > 0
    return isReported ? reportDifferences(seen, operation, compared, differences, now) : seen
  }, theCase)
}

/** Adds an alert that the provider does not know the object of an operation. */
export function reportMissing(theCase: Case, operation: Operation, now: number): Case {
  const missing = { field: 'existence', operation_says: operation.state, provider_says: 'does not know it' } as const
  return reportDifferences(theCase, operation, null, [missing], now)
}

/** Reports differences, unless all of them were alerted before. */
function reportDifferences(
  theCase: Case,
  operation: Operation,
  action: ActionRecord | null,
  differences: readonly Difference[],
  now: number,
): Case {
  const known = followedOperation(theCase, operation.operation_id)
  const fields = differences.map(difference => difference.field)
  if (known.reportedDrifts.some(reported => fields.every(field => reported.includes(field)))) return theCase
  const text = `It differs from what operation ${operation.operation_id} says: ${fields.join(', ')}`
  const entry = timelineEntry(now, 'drift_detected', driftAlertId(operation.operation_id, differences), text)
  const recorded = action === null ? null : addToTimeline(action, entry)
  const next = recorded === null ? theCase : withRecord(theCase, recorded)
  const cased = withFollowedOperation(next, { ...known, reportedDrifts: [...known.reportedDrifts, fields] })
  return withMessages(cased, driftEntry(cased, operation, recorded, differences, now))
}
