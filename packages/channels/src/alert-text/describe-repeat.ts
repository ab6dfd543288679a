import type { Action, Incident, RefundedTwice } from '@backstop/contracts'
import type { IncidentText } from './describe-fault.ts'
import { nextStepsOfRepeat } from './next-steps.ts'
import { clockTime } from './times.ts'
import { factsIn, nameAction, toOneLine } from './wording.ts'

/** The texts of an incident REFUNDED_TWICE: when the first refund was made, and by which operations. */
export function describeRepeat(
  action: Action,
  { resolution, reason }: Pick<Incident, 'resolution' | 'reason'>,
  { operation_id, earlier }: RefundedTwice,
): IncidentText {
  const what = nameAction(action)
  return {
    opened: `Refunded twice: ${what}`,
    resolved: `the ${what} no longer counts as a second refund`,
    summary:
      resolution == null || reason != null
        ? `Your software refunded the same payment twice, first at ${clockTime(earlier.provider_created_at, action.provider_created_at)}.`
        : `${toOneLine(resolution)}.`,
    facts: factsIn([['Operations', `${earlier.operation_id} and ${operation_id}`]]),
    next: nextStepsOfRepeat(action),
  }
}
