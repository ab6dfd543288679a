import type { Operation } from '@backstop/contracts'
import { type Case, replaceAt, withAll } from '../case/case.ts'
import { keepErased } from '../case/erase-personal-data.ts'
import { otherCustomersOf } from '../case/other-customers.ts'
import { mergeExpectedChanges } from '../explain/cover-actions.ts'
import { mergeLinkedRefunds } from '../judge/same-action.ts'
import { addPaymentNames } from '../refund/payment-names.ts'
import { deriveRecords } from '../subscription/subscription-records.ts'
import { mergeRows } from '../subscription/subscription-row.ts'
import { applyOperation } from './apply-object.ts'

/**
 * Merges two cases that are about the same payment or subscription, e.g. a charge and its payment intent that arrived
 * in separate events. All data of both is kept, and the verdicts are decided again. Of two stored cases the one with the
 * greater id is kept, so every process chooses the same one, and no data moves behind the eraser of personal data, which
 * visits the cases in the order of their ids. A new case is merged into a stored one.
 */
export function mergeCases(a: Case, b: Case, now: number): { winner: Case; loser: Case; merged: Case } {
  const aWins = isNew(a) === isNew(b) ? a.id > b.id : isNew(b)
  const [winner, loser] = aWins ? [a, b] : [b, a]
  const known = new Set(winner.actions.map(action => action.id))
  const knownTotals = new Set(winner.refundTotals.map(total => total.id))
  const knownCases = new Set(winner.followedOperations.map(({ operationId }) => operationId))
  const otherCustomers = otherCustomersOf(winner, loser)
  const { otherCustomers: _, ...kept } = winner
  const base: Case = {
    ...kept,
    // The higher version of the two, so that new projections are newer than those of the case that is removed.
    version: Math.max(winner.version, loser.version),
    createdAt: Math.min(winner.createdAt, loser.createdAt),
    refs: withAll(winner.refs, loser.refs),
    actions: [...winner.actions, ...loser.actions.filter(action => !known.has(action.id))],
    merged: [...winner.merged, ...loser.merged],
    evicted: [...winner.evicted, ...loser.evicted],
    refundTotals: [...winner.refundTotals, ...loser.refundTotals.filter(total => !knownTotals.has(total.id))],
    followedOperations: [
      ...winner.followedOperations,
      ...loser.followedOperations.filter(({ operationId }) => !knownCases.has(operationId)),
    ],
    expectedChanges: mergeExpectedChanges(winner, loser),
    outbox: [...winner.outbox, ...loser.outbox],
    ...(winner.names === undefined && loser.names === undefined ? {} : { names: { ...loser.names, ...winner.names } }),
    ...(winner.refundedTwice === undefined && loser.refundedTwice === undefined
      ? {}
      : { refundedTwice: { ...loser.refundedTwice, ...winner.refundedTwice } }),
    ...(winner.personErasures === undefined && loser.personErasures === undefined
      ? {}
      : { personErasures: withAll(winner.personErasures ?? [], loser.personErasures ?? []) }),
    ...(otherCustomers === undefined ? {} : { otherCustomers }),
  }
  const withOperations = loser.operations.reduce<Case>(
    (theCase, operation: Operation) => applyOperation(theCase, operation),
    base,
  )
  const joined = mergeLinkedRefunds(withRows(withOperations, loser, now), now)
  return { winner, loser, merged: keepErased(addPaymentNames(joined)) }
}

/** True if the case is not stored yet. The version of a stored case in a batch is that of its next write. */
function isNew({ version }: Case): boolean {
  return version <= 1
}

function withRows(theCase: Case, loser: Case, now: number): Case {
  let next = theCase
  for (const row of loser.subscriptions) {
    const index = next.subscriptions.findIndex(known => known.identity === row.identity)
    const known = next.subscriptions[index]
    const merged = known === undefined ? row : mergeRows(known, row)
    const subscriptions =
      known === undefined ? [...next.subscriptions, merged] : replaceAt(next.subscriptions, index, merged)
    next = deriveRecords({ ...next, subscriptions }, merged, null, now)
  }
  return next
}
