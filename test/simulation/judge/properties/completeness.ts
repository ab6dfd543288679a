import type { AccountTruth } from '../../actors/truth.ts'
import type { Case } from '../evidence.ts'
import type { Property } from '../property.ts'
import { actionsOf } from './records.ts'

/** Periods that are stated as complete. */
export const COMPLETENESS_PROPERTIES: readonly Property[] = [
  { name: 'complete-periods-miss-nothing', promise: 'completeness', check: findMissedChanges },
]

/** A change of a period that is stated as complete is listed, and has a verdict. */
function findMissedChanges({ evidence, truth }: Case): string[] {
  return truth.deeds
    .filter(({ hasVerdict }) => hasVerdict)
    .filter(deed => deed.accounts.some(account => isStatedComplete(evidence, account, deed.atMs)))
    .filter(deed => !actionsOf({ evidence }, deed).some(({ verdict }) => verdict !== 'pending'))
    .map(({ title, ref }) => `${title} (${ref}) is not judged, and its period is stated as complete`)
}

function isStatedComplete({ projects }: Case['evidence'], { projectId, kind }: AccountTruth, atMs: number): boolean {
  const stated = projects.find(lists => lists.projectId === projectId)?.completeness.connections ?? []
  return stated
    .filter(({ provider, answer }) => provider === kind && ['complete', 'complete_so_far'].includes(answer))
    .some(one => Date.parse(one.watched_from) <= atMs && atMs < Date.parse(one.complete_until ?? ''))
}
