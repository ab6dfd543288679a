import type { Operation, ReadReason } from '@backstop/contracts'
import type { ObservedAction, ObservedRecord, ObservedRefundTotal, ObservedSubscription } from '@backstop/providers'
import { type Case, type SightingSource, withConnectionFacts } from '../case/case.ts'
import type { DecisionContext } from '../case/decision-context.ts'
import { type ErasureScope, erasePersonalData, keepErased } from '../case/erase-personal-data.ts'
import type { ExpectedChange } from '../case/expected-change.ts'
import type { LookInput } from '../case/looks.ts'
import { withExpectedChanges } from '../explain/cover-actions.ts'
import { reportCanaries } from '../incident/canary.ts'
import { changeIncidentOfCase } from '../incident/change-incident.ts'
import type { ChangeIncident } from '../incident/life-cycle.ts'
import { reportRefundedTwice } from '../incident/refunded-twice.ts'
import { judgeCase } from '../judge/judge.ts'
import { reportDrift } from '../operation/drift.ts'
import { recordOutcomes } from '../operation/outcomes.ts'
import { addDetailsOfCharges } from '../refund/charge-details.ts'
import { addPaymentNames } from '../refund/payment-names.ts'
import { applyRefundTotal, updateProvisionalRefunds } from '../refund/refund-steps.ts'
import { markReleases } from '../refund/releases.ts'
import { addConnectionsOfTotals } from '../refund/shown-through.ts'
import { applySubscription } from '../subscription/subscription-records.ts'
import { applyObject, applyOperation } from './apply-object.ts'
import { countRecords, whyFull } from './evict.ts'
import { scheduleOperationLooks } from './operation-looks.ts'
import { applyLook } from './second-look.ts'

/** Everything that can change a case. */
export type Input =
  | {
      readonly kind: 'sighting'
      readonly sighting: ObservedAction | ObservedRecord | ObservedRefundTotal | ObservedSubscription
      readonly source: SightingSource
    }
  | { readonly kind: 'operation'; readonly operation: Operation }
  /**
   * Expected changes that may cover actions of the case: those without a subject, and those about a name of the case,
   * including names that later inputs of the batch add.
   */
  | { readonly kind: 'expected_changes'; readonly expectedChanges: readonly ExpectedChange[] }
  | { readonly kind: 'erase_personal_data'; readonly scope: ErasureScope }
  /** A person changes an incident of the case. */
  | { readonly kind: 'change_incident'; readonly command: ChangeIncident }
  /** A look that is due, or that the provider has answered. The objects of the answer were applied before. */
  | ({ readonly kind: 'second_look' } & LookInput)

/**
 * Returns the next state of a case. It depends only on its arguments, so after a lost compare-and-set the case is
 * loaded and decided again.
 */
export function decide(theCase: Case, input: Input, context: DecisionContext): Case {
  const { now } = context
  switch (input.kind) {
    case 'sighting':
      return judge(keepErased(applySighting(withConnectionFacts(theCase, input.source), input, now)), context)
    case 'operation': {
      const next = applyOperation(theCase, input.operation)
      // A look applies every operation of its case. Unchanged operations must cost nothing.
      return next === theCase ? theCase : judge(next, context)
    }
    case 'expected_changes':
      return judge(withExpectedChanges(theCase, input.expectedChanges), context)
    case 'erase_personal_data':
      return erasePersonalData(theCase, input.scope, now)
    case 'change_incident':
      return changeIncidentOfCase(theCase, input.command, now)
    case 'second_look':
      return report(applyLook(theCase, input, context), context)
    default:
      return input satisfies never
  }
}

/** The reasons of re-reads that a look requested. */
const READ_FOR_LOOKS: readonly (ReadReason | null)[] = ['second_look', 'settlement', 'missing_check']

/**
 * The reason why a case refuses an input; null if it accepts the input. Looks and the sightings that they requested are
 * always accepted, because a refused one would be requested again for ever.
 */
export function whyRefused(theCase: Case, input: Input, now: number): ReturnType<typeof whyFull> {
  if (input.kind !== 'sighting' || READ_FOR_LOOKS.includes(input.source.readFor)) return null
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
  const named = markReleases(addDetailsOfCharges(addConnectionsOfTotals(addPaymentNames(theCase)), context.now))
  return report(judgeCase(updateProvisionalRefunds(named, context), context), context)
}

/** What follows from the verdicts: used canaries, outcomes of operations, second refunds, differences and checks. */
function report(theCase: Case, { now, canaries }: DecisionContext): Case {
  const decided = reportRefundedTwice(recordOutcomes(reportCanaries(theCase, canaries, now), now), now)
  return scheduleOperationLooks(reportDrift(decided, now), now)
}
