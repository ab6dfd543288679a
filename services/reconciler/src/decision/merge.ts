import type { Operation } from '@backstop/contracts'
import { type Case, replaceAt, withAll } from '../case/case.ts'
import { mergeExpectedChanges } from '../expected-change/cover-actions.ts'
import { addPaymentNames } from '../refund/payment-names.ts'
import { deriveRecords } from '../subscription/subscription-records.ts'
import { mergeRows } from '../subscription/subscription-row.ts'
import { mergeLinkedRefunds } from '../verdict/same-action.ts'
import { applyOperation } from './apply-object.ts'

/**
 * Merges two cases that are about the same payment or subscription, e.g. a charge and its payment intent that arrived
 * in separate events. The older case keeps its id, so every process chooses the same one. All data of both is kept, and
 * the verdicts are decided again.
 */
export function mergeCases(a: Case, b: Case, now: number): { winner: Case; loser: Case; merged: Case } {
  const aWins = a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id)
  const [winner, loser] = aWins ? [a, b] : [b, a]
  const known = new Set(winner.actions.map(action => action.id))
  const knownTotals = new Set(winner.refundTotals.map(total => total.id))
  const knownCases = new Set(winner.followedOperations.map(one => one.operationId))
  const base: Case = {
    ...winner,
    // The higher version of the two, so that new projections are newer than those of the case that is removed.
    version: Math.max(winner.version, loser.version),
    refs: withAll(winner.refs, loser.refs),
    actions: [...winner.actions, ...loser.actions.filter(action => !known.has(action.id))],
    merged: [...winner.merged, ...loser.merged],
    evicted: [...winner.evicted, ...loser.evicted],
    refundTotals: [...winner.refundTotals, ...loser.refundTotals.filter(total => !knownTotals.has(total.id))],
    followedOperations: [
      ...winner.followedOperations,
      ...loser.followedOperations.filter(one => !knownCases.has(one.operationId)),
    ],
    expectedChanges: mergeExpectedChanges(winner, loser),
    outbox: [...winner.outbox, ...loser.outbox],
    ...(winner.names === undefined && loser.names === undefined ? {} : { names: { ...loser.names, ...winner.names } }),
  }
  const withOperations = loser.operations.reduce<Case>(
    (theCase, operation: Operation) => applyOperation(theCase, operation),
    base,
  )
  const joined = mergeLinkedRefunds(withRows(withOperations, loser, now), now)
  return { winner, loser, merged: addPaymentNames(joined) }
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
