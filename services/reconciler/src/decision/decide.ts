import type { Operation, ReadReason } from '@backstop/contracts'
import type { ObservedAction, ObservedRecord, ObservedRefundTotal, ObservedSubscription } from '@backstop/providers'
import type { Case, SightingSource } from '../case/case.ts'
import type { DecisionContext } from '../case/decision-context.ts'
import type { ExpectedChange } from '../case/expected-change.ts'
import { withExpectedChanges } from '../expected-change/cover-actions.ts'
import { reportDrift } from '../operation/drift.ts'
import { recordOutcomes } from '../operation/outcomes.ts'
import { joinPaymentNames } from '../refund/payment-names.ts'
import { applyRefundTotal, followTotals } from '../refund/refund-steps.ts'
import { joinConnectionsOfTotals } from '../refund/shown-through.ts'
import { applySubscription } from '../subscription/subscription-records.ts'
import { judgeCase } from '../verdict/judge.ts'
import { applyObject, applyOperation } from './apply-object.ts'
import { countRecords, whyFull } from './evict.ts'
import { scheduleOperationLooks } from './operation-looks.ts'
import { applyLook, type LookInput } from './second-look.ts'

/** Everything that can change what is known of a case. */
export type Input =
  | {
      readonly kind: 'sighting'
      readonly sighting: ObservedAction | ObservedRecord | ObservedRefundTotal | ObservedSubscription
      readonly source: SightingSource
    }
  | { readonly kind: 'operation'; readonly operation: Operation }
  /** Expected changes of people about anything, or about what the case is called, or will be by the inputs that follow. */
  | { readonly kind: 'expected_changes'; readonly expectedChanges: readonly ExpectedChange[] }
  /** A look that is due, or that the provider has answered; what the answer showed was seen before. */
  | ({ readonly kind: 'second_look' } & LookInput)

/**
 * The next state of a case. Pure: what it returns rests on its arguments only, so a lost compare-and-set is answered
 * by loading again and deciding again.
 */
export function decide(theCase: Case, input: Input, context: DecisionContext): Case {
  const { now } = context
  switch (input.kind) {
    case 'sighting':
      return judge(applySighting(theCase, input, now), context)
    case 'operation': {
      const next = applyOperation(theCase, input.operation)
      // A look brings every operation of its case: those that are known already are to cost nothing.
      return next === theCase ? theCase : judge(next, context)
    }
    case 'expected_changes':
      return judge(withExpectedChanges(theCase, input.expectedChanges), context)
    case 'second_look':
      return followOperations(applyLook(theCase, input, context), now)
    default:
      return input satisfies never
  }
}

/** What is read because a look asked for it. */
const READ_FOR_LOOKS: readonly (ReadReason | null)[] = ['second_look', 'settlement', 'missing_check']

/**
 * Why a case cannot take an input; null where it can. A look always passes, as does what was read for one: it would
 * be asked for again for ever.
 */
export function whyRefused(theCase: Case, input: Input, now: number): ReturnType<typeof whyFull> {
  if (input.kind !== 'sighting' || READ_FOR_LOOKS.includes(input.source.reading)) return null
  const why = whyFull(theCase)
  return why === null || countRecords(applySighting(theCase, input, now)) <= countRecords(theCase) ? null : why
}

function applySighting(theCase: Case, { sighting, source }: Extract<Input, { kind: 'sighting' }>, now: number): Case {
  switch (sighting.kind) {
    case 'action':
    case 'record':
      return applyObject(theCase, sighting, source, now)
    case 'refund_total':
      return applyRefundTotal(theCase, sighting, source)
    case 'subscription':
      return applySubscription(theCase, sighting, source, now)
    default:
      return sighting satisfies never
  }
}

function judge(theCase: Case, context: DecisionContext): Case {
  const named = joinConnectionsOfTotals(joinPaymentNames(theCase))
  return followOperations(judgeCase(followTotals(named, context), context), context.now)
}

/** What follows from verdicts for the operations that gave them. */
function followOperations(theCase: Case, now: number): Case {
  return scheduleOperationLooks(reportDrift(recordOutcomes(theCase, now), now), now)
}
