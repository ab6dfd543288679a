import type { ObjectState } from '@backstop/contracts'
import { openIncidentAbout } from './incidents.ts'
import { caseOf, withCase } from './operation-case.ts'
import { settleEntry } from './outgoing.ts'
import { type ActionRecord, type OperationCase, type Subject, withRecord } from './subject.ts'
import { tellStory, timelineEntry } from './timeline.ts'

/** What the provider's decision about a refund makes of the operation that waits for it; states not named are none yet. */
const SETTLES_AS: Partial<Record<ObjectState, NonNullable<OperationCase['settledAs']>>> = {
  succeeded: 'completed',
  rejected: 'rejected',
  failed: 'failed',
  canceled: 'failed',
}

/**
 * The subject with what the provider decided about refunds that operations made: the operation that awaits its review is
 * settled, once, and a refusal is an incident.
 */
export function settleOperations(subject: Subject, now: number): Subject {
  const operations = new Map(subject.operations.map(operation => [operation.operation_id, operation]))
  return subject.actions.reduce((next, action) => {
    const operation = operations.get(action.operationId ?? '')
    if (operation === undefined || action.kind !== 'refund') return next
    const told = action.state === 'rejected' ? tellRejection(next, action, now) : next
    const to = SETTLES_AS[action.state]
    if (to === undefined || operation.state !== 'awaiting_review') return told
    const known = caseOf(told, operation.operation_id)
    if (known.settledAs === to) return told
    const record = told.actions.find(one => one.id === action.id) ?? action
    const text = `Operation ${operation.operation_id} is settled as ${to}`
    const settled = withRecord(told, tellStory(record, timelineEntry(now, 'settled', operation.operation_id, text)))
    return {
      ...withCase(settled, { ...known, settledAs: to }),
      outbox: [...settled.outbox, settleEntry(subject, operation, to, action, now)],
    }
  }, subject)
}

function tellRejection(subject: Subject, action: ActionRecord, now: number): Subject {
  const connectionId = action.seenThrough[0]?.id
  if (connectionId === undefined) return subject
  const allowance = { connectionId, outOfBand: null }
  return openIncidentAbout(subject, action, 'REFUND_REJECTED', allowance, 'REFUND_REJECTED', now)
}
