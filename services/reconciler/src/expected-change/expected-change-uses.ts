import type { ActionRecord } from '../case/action-record.ts'
import type { Case } from '../case/case.ts'
import type { ExpectedChange, UsedElsewhere } from '../case/expected-change.ts'

/**
 * What is taken of one expected change, by the actions of any case of its project: one document, written by compare-and-set,
 * so two cases never both get the last use. Taking is idempotent by action, so a crash between taking a use and saving the
 * verdict that needs it neither loses the use nor takes it twice.
 */
export interface ExpectedChangeUses {
  /** The expected change's id. */
  readonly id: string
  readonly projectId: string
  /** 0 until it is stored; grows by one with each write. */
  readonly version: number
  readonly uses: readonly Use[]
  /** When the expected change expires, in milliseconds since the epoch. */
  readonly expiresAt: number
}

/** One action that an expected change covers. */
export interface Use {
  readonly actionId: string
  /** Minor units; 0 where no money moved. */
  readonly amount: number
  /** The version of the case that claimed it last: no older decision gives it back. */
  readonly caseVersion: number
}

/** What one case wants of an expected change. */
export interface UsesClaim {
  readonly caseId: string
  /** The version of the case that is saved with these uses. */
  readonly caseVersion: number
  readonly uses: readonly Omit<Use, 'caseVersion'>[]
  /** Actions of these uses that were covered before: they count, whether or not their use is still stored. */
  readonly held: readonly string[]
  /** Uses of its own that the case does not need any more: they make room for these, and stay otherwise. */
  readonly surplus: readonly string[]
}

/** What a case has of an expected change at the end of a decision, and what it needs. */
export interface Needs {
  readonly expectedChange: ExpectedChange
  readonly claim: UsesClaim
  /** Whether it needs a use that it did not have before, or that is not stored. */
  readonly isMore: boolean
}

/** The names that a case's uses may stand under. */
export function ownIds({ actions, merged }: Case): ReadonlySet<string> {
  return new Set([...actions.map(({ id }) => id), ...merged.map(({ record }) => record.id)])
}

/** Actions that are named as having used an expected change; the others are counted. */
export const MAX_NAMED = 3

/** What of an expected change is taken by others than these actions. A case's own unused claims count as free for that case. */
export function usedElsewhere(stored: ExpectedChangeUses | undefined, own: ReadonlySet<string>): UsedElsewhere {
  const others = (stored?.uses ?? []).filter(({ actionId }) => !own.has(actionId))
  const by = others.map(({ actionId }) => actionId).sort()
  return {
    changes: others.length,
    amount: others.reduce((sum, { amount }) => sum + amount, 0),
    by: by.slice(0, MAX_NAMED),
  }
}

/** What a case needs of each of its expected changes. */
export function needsOf(
  theCase: Case,
  before: Case | undefined,
  stored: ReadonlyMap<string, ExpectedChangeUses>,
): Needs[] {
  const own = ownIds(theCase)
  return theCase.expectedChanges.flatMap(expectedChange => {
    const uses = theCase.actions.filter(holds(expectedChange)).map(useOf)
    const needed = new Set(uses.map(({ actionId }) => actionId))
    const had = (before?.actions ?? []).filter(holds(expectedChange)).map(useOf)
    const held = uses
      .filter(use => had.some(one => one.actionId === use.actionId && one.amount === use.amount))
      .map(({ actionId }) => actionId)
    const ofAll = stored.get(expectedChange.id)?.uses.map(({ actionId }) => actionId)
    // Only where the case is saved: that fails where another decision gave the use back a moment ago.
    const isLost = theCase !== before && ofAll !== undefined && held.some(id => !ofAll.includes(id))
    const isMore = held.length < uses.length || isLost
    const known = [...(ofAll ?? []), ...had.map(one => one.actionId)]
    const surplus = [...new Set(known)].filter(id => own.has(id) && !needed.has(id))
    if (!isMore && surplus.length === 0) return []
    return [
      { expectedChange, claim: { caseId: theCase.id, caseVersion: theCase.version, uses, held, surplus }, isMore },
    ]
  })
}

function holds({ id }: ExpectedChange): (action: ActionRecord) => boolean {
  return action => action.expectedChangeId === id
}

function useOf({ id, amount }: ActionRecord): Omit<Use, 'caseVersion'> {
  return { actionId: id, amount: amount ?? 0 }
}

/**
 * The uses once every claim that fits is granted, in their order. A claim that takes no more than its case has always fits.
 * @returns the cases whose claim does not fit: they are to be decided again
 */
export function grant(
  stored: ExpectedChangeUses,
  { maxChanges, maxAmount }: Pick<ExpectedChange, 'maxChanges' | 'maxAmount'>,
  claims: readonly UsesClaim[],
): { readonly next: ExpectedChangeUses; readonly refused: ReadonlySet<string> } {
  const fits = (uses: readonly Use[]) =>
    uses.length <= maxChanges && (maxAmount === null || uses.reduce((sum, { amount }) => sum + amount, 0) <= maxAmount)
  const refused = new Set<string>()
  let uses = stored.uses
  for (const claim of claims) {
    const known = new Map(uses.map(use => [use.actionId, use]))
    const wanted = claim.uses.map(use => {
      const caseVersion = Math.max(claim.caseVersion, known.get(use.actionId)?.caseVersion ?? 0)
      return { ...use, caseVersion }
    })
    const isNoMore = claim.uses.every(
      ({ actionId, amount }) => claim.held.includes(actionId) || amount <= (known.get(actionId)?.amount ?? -1),
    )
    const kept = [...uses.filter(({ actionId }) => !wanted.some(use => use.actionId === actionId)), ...wanted]
    const swapped = kept.filter(use => !isReleased(use, claim))
    if (isNoMore || fits(kept)) uses = kept
    else if (fits(swapped)) uses = swapped
    else refused.add(claim.caseId)
  }
  return { next: withUses(stored, uses), refused }
}

/** The uses without those that are given back. */
export function release(
  stored: ExpectedChangeUses,
  claims: readonly Pick<UsesClaim, 'surplus' | 'caseVersion'>[],
): ExpectedChangeUses {
  return withUses(
    stored,
    stored.uses.filter(use => !claims.some(claim => isReleased(use, claim))),
  )
}

/** A later decision of the case may have claimed it again. */
function isReleased(use: Use, { surplus, caseVersion }: Pick<UsesClaim, 'surplus' | 'caseVersion'>): boolean {
  return use.caseVersion <= caseVersion && surplus.includes(use.actionId)
}

/** The same object where nothing changes, so that nothing is written. */
function withUses(stored: ExpectedChangeUses, uses: readonly Use[]): ExpectedChangeUses {
  const textOf = (list: readonly Use[]) =>
    JSON.stringify(list.map(use => [use.actionId, use.amount, use.caseVersion]).sort())
  return textOf(uses) === textOf(stored.uses) ? stored : { ...stored, version: stored.version + 1, uses }
}
