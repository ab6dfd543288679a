import type { Action, Incident, RefundedTwice } from '@backstop/contracts'
import type { IncidentText } from './describe-fault.ts'
import { nextStepsOfRepeat } from './next-steps.ts'
import { factsIn, formatTime, nameAction, toOneLine } from './wording.ts'

/** The texts of an incident REFUNDED_TWICE: both refunds, and the operations that made them. */
export function describeRepeat(
  action: Action,
  { resolution, reason }: Pick<Incident, 'resolution' | 'reason'>,
  { operation_id, earlier }: RefundedTwice,
): IncidentText {
  const what = nameAction(action)
  const end = resolution == null || reason != null ? '' : ` ${toOneLine(resolution)}.`
  return {
    opened: `Refunded twice: ${what}`,
    resolved: `the ${what} no longer counts as a second refund`,
    summary: `Your software made a ${what}, and then made it again for the same payment.${end}`,
    facts: factsIn([
      ['First refund', describeRefund(earlier.provider_ref, earlier.provider_created_at, earlier.operation_id)],
      ['Second refund', describeRefund(action.provider_ref ?? '', action.provider_created_at, operation_id)],
    ]),
    next: nextStepsOfRepeat(action),
  }
}

function describeRefund(ref: string, madeAt: string, operationId: string): string {
  return `${toOneLine(ref)}, made ${formatTime(madeAt)} by operation ${toOneLine(operationId)}`
}
