import type { Operation, ReadReason } from '@backstop/contracts'
import type { ObservedAction, ObservedRecord, ObservedRefundTotal, ObservedSubscription } from '@backstop/providers'
import type { Sighting, Subject } from '../case/case.ts'
import type { ExpectedChange } from '../case/expected-change.ts'
import { withNotes } from '../expected-change/cover-actions.ts'
import { tellDrift } from '../operation/drift.ts'
import { settleOperations } from '../operation/settle.ts'
import { joinPaymentNames } from '../refund/payment-names.ts'
import { followTotals, observeRefundTotal } from '../refund/refund-steps.ts'
import { joinConnectionsOfTotals } from '../refund/shown-through.ts'
import { observeSubscription } from '../subscription/subscription-records.ts'
import { judgeSubject } from '../verdict/judge.ts'
import { knownTo, whyFull } from './evict.ts'
import { observeObject, observeOperation } from './observe.ts'
import { armOperationLooks } from './operation-looks.ts'
import { type LookInput, takeLook } from './second-look.ts'

/** Everything that can change what is known of a subject. */
export type Input =
  | {
      readonly kind: 'observed'
      readonly observed: ObservedAction | ObservedRecord | ObservedRefundTotal | ObservedSubscription
      readonly sighting: Sighting
    }
  | { readonly kind: 'operation'; readonly operation: Operation }
  /** Notes of people about anything, or about what the subject is called, or will be by the inputs that follow. */
  | { readonly kind: 'noted'; readonly notes: readonly ExpectedChange[] }
  /** A look that is due, or that the provider has answered; what the answer showed was observed before. */
  | ({ readonly kind: 'second_look' } & LookInput)

export interface Rules {
  /** Milliseconds between the first record of an unexplained action and its second look. */
  readonly recheckDelayMs: number
}

/**
 * The next state of a subject. Pure: what it returns rests on its arguments only, so a lost compare-and-set is answered
 * by loading again and deciding again.
 */
export function decide(subject: Subject, input: Input, now: number, rules: Rules): Subject {
  switch (input.kind) {
    case 'observed':
      return judge(observe(subject, input, now), now, rules)
    case 'operation': {
      const next = observeOperation(subject, input.operation)
      // A look brings every operation of its subject: those that are known already are to cost nothing.
      return next === subject ? subject : judge(next, now, rules)
    }
    case 'noted':
      return judge(withNotes(subject, input.notes), now, rules)
    case 'second_look':
      return follow(takeLook(subject, input, now, rules.recheckDelayMs), now)
    default:
      return input satisfies never
  }
}

/** What is read because a look asked for it. */
const READ_FOR_LOOKS: readonly (ReadReason | null)[] = ['second_look', 'settlement', 'missing_check']

/**
 * Why a subject cannot take an input; null where it can. A look always passes, as does what was read for one: it would
 * be asked for again for ever.
 */
export function whyRefused(subject: Subject, input: Input, now: number): ReturnType<typeof whyFull> {
  if (input.kind !== 'observed' || READ_FOR_LOOKS.includes(input.sighting.reading)) return null
  const why = whyFull(subject)
  return why === null || knownTo(observe(subject, input, now)) <= knownTo(subject) ? null : why
}

function observe(subject: Subject, { observed, sighting }: Extract<Input, { kind: 'observed' }>, now: number): Subject {
  switch (observed.kind) {
    case 'action':
    case 'record':
      return observeObject(subject, observed, sighting, now)
    case 'refund_total':
      return observeRefundTotal(subject, observed, sighting)
    case 'subscription':
      return observeSubscription(subject, observed, sighting, now)
    default:
      return observed satisfies never
  }
}

function judge(subject: Subject, now: number, { recheckDelayMs }: Rules): Subject {
  const named = joinConnectionsOfTotals(joinPaymentNames(subject))
  return follow(judgeSubject(followTotals(named, now, recheckDelayMs), now, recheckDelayMs), now)
}

/** What follows from verdicts for the operations that gave them. */
function follow(subject: Subject, now: number): Subject {
  return armOperationLooks(tellDrift(settleOperations(subject, now), now), now)
}
