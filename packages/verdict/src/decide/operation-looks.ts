import type { ObjectState, Operation } from '@backstop/contracts'
import type { ActionRecord } from '../case/action-record.ts'
import { type Case, type FollowedOperation, withMessages } from '../case/case.ts'
import { awaitsAnswer, type LookInput, type OperationLook as PendingOperationLook } from '../case/looks.ts'
import { connectedAccountOf, refundIdsOf } from '../case/sides.ts'
import { questionThrough } from '../case/whom-to-ask.ts'
import { reportMissing } from '../operation/drift.ts'
import { followedOperation, withFollowedOperation } from '../operation/followed-operation.ts'
import { rereadEntry } from '../show/outbox-entries.ts'
import { sectionsOf } from '../subscription/subscription-row.ts'

/** How long the object of a completed operation may be unknown before the provider is asked. */
const MISSING_AFTER_MS = 15 * 60_000
/** How long to keep asking if the provider is unavailable. */
const MISSING_UNTIL_MS = 24 * 3_600_000
/** A refund under review is checked soon in case its event is lost, and then less often. */
const SETTLEMENT_FIRST_MS = 3_600_000
const SETTLEMENT_AGAIN_MS = 6 * 3_600_000
const SETTLEMENT_UNTIL_MS = 30 * 86_400_000

type OperationLook = NonNullable<FollowedOperation['look']>

/**
 * Schedules the checks that operations need: of a completed operation without an action, and of an operation in review.
 */
export function scheduleOperationLooks(theCase: Case, now: number): Case {
  const actions = Map.groupBy(theCase.actions, ({ operationId }) => operationId)
  const looks = new Map(theCase.followedOperations.map(({ operationId, look }) => [operationId, look]))
  return theCase.operations.reduce((next, operation) => {
    const id = operation.operation_id
    const why = neededLook(operation, actions.get(id) ?? [])
    if (why === (looks.get(id)?.why ?? null)) return next
    return withFollowedOperation(next, {
      ...followedOperation(next, id),
      look: why === null ? null : firstLook(why, operation, now),
    })
  }, theCase)
}

function actionOf(theCase: Case, { operation_id }: Operation): ActionRecord | undefined {
  return theCase.actions.find(action => action.operationId === operation_id)
}

const UNDECIDED: ReadonlySet<ObjectState> = new Set(['pending', 'requires_action'])

/** @param actions the actions that the operation explains */
function neededLook(operation: Operation, actions: readonly ActionRecord[]): OperationLook['why'] | null {
  if (actions.length === 0) {
    // An operation that skipped its approval explains nothing, so it is normal that it has no action.
    return operation.state === 'completed' && operation.unapproved == null ? 'missing_check' : null
  }
  const isUndecided = actions.some(({ kind, state }) => kind === 'refund' && UNDECIDED.has(state))
  return operation.state === 'awaiting_review' && isUndecided ? 'settlement' : null
}

function firstLook(why: OperationLook['why'], { ended_at }: Operation, now: number): OperationLook {
  const endedAt = ended_at === null ? now : Date.parse(ended_at)
  const dueAt = why === 'settlement' ? now + SETTLEMENT_FIRST_MS : Math.max(now, endedAt) + MISSING_AFTER_MS
  return { why, dueAt, askedAt: null, doneAt: null }
}

/** The case after a check of one of its operations was due, or after the provider answered it. */
export function lookAtOperation(
  theCase: Case,
  pending: PendingOperationLook,
  { answer, facts }: LookInput,
  now: number,
): Case {
  const known = theCase.followedOperations.find(({ operationId }) => operationId === pending.operationId)
  const operation = theCase.operations.find(({ operation_id }) => operation_id === known?.operationId)
  if (known === undefined || known.look === null || operation === undefined) return theCase
  const { look } = known
  const withLook = (next: OperationLook) => withFollowedOperation(theCase, { ...known, look: next })
  if (answer === null) {
    if (awaitsAnswer(pending, now)) return theCase
    const action = actionOf(theCase, operation)
    const what = {
      action: operation.kind,
      providerRef: operation.provider_ref ?? action?.providerRef ?? null,
      objectIds: [operation.subject],
    }
    const policy = facts.policies.get(operation.connection_id)
    const seen = action ?? theCase.actions.find(({ subject }) => subject === operation.subject)
    const account = seen && policy && connectedAccountOf(seen, policy.provider)
    const asking = questionThrough(policy, what, facts, account)
    if (asking === undefined) return withLook(lookAfterAnswer(look, operation, now))
    const asked = withLook({ ...look, askedAt: now })
    return withMessages(asked, rereadEntry(theCase, pending, asking, look.why, now))
  }
  if (answer.outcome === 'unavailable') {
    const isOver = now - look.dueAt >= MISSING_UNTIL_MS
    return withLook(isOver ? lookAfterAnswer(look, operation, now) : { ...look, askedAt: now })
  }
  const next = withLook(lookAfterAnswer(look, operation, now))
  return look.why === 'missing_check' && !isConfirmedOtherwise(theCase, operation)
    ? reportMissing(next, operation, now)
    : next
}

/** The finished look, or the look with its next due time. */
function lookAfterAnswer(look: OperationLook, operation: Operation, now: number): OperationLook {
  const since = Date.parse(operation.executing_at ?? operation.created_at)
  if (look.why === 'missing_check' || now - since >= SETTLEMENT_UNTIL_MS) return { ...look, doneAt: now }
  return { ...look, dueAt: now + SETTLEMENT_AGAIN_MS, askedAt: null }
}

/**
 * True if the operation is right although another operation explains its action: a refund was reported twice, or
 * another request ended the subscription.
 */
function isConfirmedOtherwise(theCase: Case, operation: Operation): boolean {
  if (operation.kind === 'refund') {
    return theCase.actions.some(action => refundIdsOf(action).some(id => id === operation.provider_ref))
  }
  const names = [operation.subject, operation.provider_ref]
  return theCase.subscriptions
    .filter(row => names.some(name => name !== null && row.objectIds.includes(name)))
    .some(row => sectionsOf(row, 'cancellation').at(-1)?.part === 'episode')
}
