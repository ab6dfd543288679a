import { isoTime } from '@backstop/contracts'
import type { ActionRecord } from '../case/action-record.ts'
import type { Case } from '../case/case.ts'
import { claimResultOf, type TimedOperation, timedOperation } from './operation-match.ts'

/**
 * The operation for which an alerted action is decided again: it agrees with the action by amount and time only, and may still get a
 * refund or cancellation of its own. Undefined if the action waits for none.
 */
function awaitedOperation({ operations, actions }: Case, action: ActionRecord): TimedOperation | undefined {
  const { decideAgainAt = null } = action
  if (decideAgainAt === null) return undefined
  const taken = new Set(actions.map(({ operationId }) => operationId))
  for (const operation of operations) {
    const hasOtherAmount = action.kind === 'refund' && operation.amount !== action.amount
    if (operation.kind !== action.kind || hasOtherAmount || taken.has(operation.operation_id)) continue
    const timed = timedOperation(operation)
    if (timed.until === decideAgainAt && claimResultOf(action, operation, timed).kind === 'match') return timed
  }
  return undefined
}

/** What an unexplained action waits for, for people to read; undefined if it waits for nothing. */
export function describeWait(
  theCase: Case,
  action: ActionRecord,
): { readonly operationId: string; readonly text: string } | undefined {
  const awaited = awaitedOperation(theCase, action)
  if (awaited === undefined) return undefined
  const { operation, name, until } = awaited
  const waitsFor =
    operation.ended_at === null
      ? `its end is not reported; this is decided again 15 minutes after its end, or at ${isoTime(until)}`
      : `its own ${action.kind} may still arrive; this is decided again at ${isoTime(until)}`
  return { operationId: name, text: `operation ${name} agrees with it, but ${waitsFor}` }
}
