import type { Operation } from '@backstop/contracts'
import { observeOperation } from './observe.ts'
import { type Subject, withAll } from './subject.ts'

/**
 * Two subjects that turned out to be one, e.g. a charge and its payment intent that came in separate events. The older
 * keeps its id; which one that is does not depend on who merges. Everything of both is kept; the verdicts are judged anew.
 */
export function mergeSubjects(a: Subject, b: Subject): { winner: Subject; loser: Subject; merged: Subject } {
  const aWins = a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id)
  const [winner, loser] = aWins ? [a, b] : [b, a]
  const known = new Set(winner.actions.map(action => action.identity))
  const knownTotals = new Set(winner.refundTotals.map(total => total.id))
  const base: Subject = {
    ...winner,
    // Of both, so that projections of the one that vanishes are not newer than what comes.
    version: Math.max(winner.version, loser.version),
    refs: withAll(winner.refs, loser.refs),
    actions: [...winner.actions, ...loser.actions.filter(action => !known.has(action.identity))],
    refundTotals: [...winner.refundTotals, ...loser.refundTotals.filter(total => !knownTotals.has(total.id))],
    outbox: [...winner.outbox, ...loser.outbox],
  }
  const merged = loser.operations.reduce<Subject>(
    (subject, operation: Operation) => observeOperation(subject, operation),
    base,
  )
  return { winner, loser, merged }
}
