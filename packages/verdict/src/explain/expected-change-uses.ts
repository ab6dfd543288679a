import type { ActionRecord } from '../case/action-record.ts'
import type { Case } from '../case/case.ts'
import type { ExpectedChange, UsedElsewhere } from '../case/expected-change.ts'

/**
 * The uses of one expected change by actions of any case of its project. They are one document that is written by
 * compare-and-set, so two cases never both get the last use. A claim is idempotent per action, so a crash between the
 * claim and saving the verdict neither loses the use nor counts it twice.
 */
export interface ExpectedChangeUses {
  /** The expected change's id. */
  readonly id: string
  readonly projectId: string
  /** 0 until the document is stored; each write adds one. */
  readonly version: number
  readonly uses: readonly Use[]
  /** When the expected change expires, in milliseconds since the epoch. */
  readonly expiresAt: number
}

/** One action that an expected change covers. */
export interface Use {
  readonly actionId: string
  /** Minor units; 0 if no money moved. */
  readonly amount: number
  /** The case that claimed the use last; absent if a release before 0.3.0 stored it. */
  readonly caseId?: string
  /** The version of the case that claimed the use last. A decision on an older version cannot release it. */
  readonly caseVersion: number
}

/** The uses of an expected change that one case claims. */
export interface UsesClaim {
  readonly caseId: string
  /** The version of the case that is saved with these uses. */
  readonly caseVersion: number
  readonly uses: readonly Pick<Use, 'actionId' | 'amount'>[]
  /** Ids of actions that were covered before. Their uses are granted even if they are not stored any more. */
  readonly held: readonly string[]
  /**
   * Ids of stored uses that the case does not need any more. They are released if the claim fits only without them;
   * otherwise `releaseClaims` does it later.
   */
  readonly surplus: readonly string[]
}

/** The uses of an expected change that a case needs after a decision. */
export interface NeededUses {
  readonly expectedChange: ExpectedChange
  readonly claim: UsesClaim
  /** True if the case needs a use that is new or not stored. */
  readonly isMore: boolean
}

/**
 * Whether a use is of this case: of one of its actions, also a merged one, or of an action that it never got. A decision claims its uses
 * before it is saved, and is not saved if its process ends, or if another decision has saved the same version.
 * @param savedVersion the stored version of the case; 0 if it is not stored
 */
export function isUseOf({ id, actions, merged, evicted }: Case, savedVersion: number): (use: Use) => boolean {
  const own = new Set([...actions.map(({ id }) => id), ...merged.map(({ record }) => record.id)])
  const wasOwn = new Set(evicted.map(({ actionId }) => actionId))
  return ({ actionId, caseId, caseVersion }) =>
    own.has(actionId) || (caseId === id && caseVersion <= savedVersion && !wasOwn.has(actionId))
}

/** How many of the actions that used an expected change are named. The others are only counted. */
export const MAX_NAMED = 3

/**
 * How much of an expected change is used by other actions than those of a case.
 * @param isOwn whether a use is of the case
 */
export function usedElsewhere(stored: ExpectedChangeUses | undefined, isOwn: (use: Use) => boolean): UsedElsewhere {
  const others = (stored?.uses ?? []).filter(use => !isOwn(use))
  const by = others.map(({ actionId }) => actionId).sort()
  return {
    changes: others.length,
    amount: others.reduce((sum, { amount }) => sum + amount, 0),
    by: by.slice(0, MAX_NAMED),
  }
}

/** The uses that a case needs of each of its expected changes. */
export function neededUsesOf(
  theCase: Case,
  before: Case | undefined,
  stored: ReadonlyMap<string, ExpectedChangeUses>,
): NeededUses[] {
  if (theCase.expectedChanges.length === 0) return []
  const isOwn = isUseOf(theCase, before?.version ?? 0)
  return theCase.expectedChanges.flatMap(expectedChange => {
    const uses = theCase.actions.filter(usesExpectedChange(expectedChange)).map(useOf)
    const needed = new Set(uses.map(({ actionId }) => actionId))
    const had = (before?.actions ?? []).filter(usesExpectedChange(expectedChange)).map(useOf)
    const held = uses
      .filter(use => had.some(({ actionId, amount }) => actionId === use.actionId && amount === use.amount))
      .map(({ actionId }) => actionId)
    const ofAll = stored.get(expectedChange.id)?.uses
    // Only if the case will be saved. Saving fails if another decision has just released the use.
    const isLost =
      theCase !== before && ofAll !== undefined && !held.every(id => ofAll.some(({ actionId }) => actionId === id))
    const isMore = held.length < uses.length || isLost
    const known = [...(ofAll ?? []), ...had.map(use => ({ ...use, caseVersion: 0 }))].filter(isOwn)
    const surplus = [...new Set(known.map(({ actionId }) => actionId))].filter(id => !needed.has(id))
    if (!isMore && surplus.length === 0) return []
    return [
      { expectedChange, claim: { caseId: theCase.id, caseVersion: theCase.version, uses, held, surplus }, isMore },
    ]
  })
}

function usesExpectedChange({ id }: ExpectedChange): (action: ActionRecord) => boolean {
  return action => action.expectedChangeId === id
}

function useOf({ id, amount }: ActionRecord): Pick<Use, 'actionId' | 'amount'> {
  return { actionId: id, amount: amount ?? 0 }
}

/**
 * Grants the claims that fit, in their order. A claim that needs no more than its case already has always fits.
 * @returns `refused`: the ids of the cases whose claims do not fit, to decide again
 */
export function grantClaims(
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
      return { ...use, caseId: claim.caseId, caseVersion }
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

/** The uses without those that these claims release. */
export function releaseClaims(
  stored: ExpectedChangeUses,
  claims: readonly Pick<UsesClaim, 'surplus' | 'caseVersion'>[],
): ExpectedChangeUses {
  return withUses(
    stored,
    stored.uses.filter(use => !claims.some(claim => isReleased(use, claim))),
  )
}

/** False if a later decision of the case has claimed the use again. */
function isReleased(use: Use, { surplus, caseVersion }: Pick<UsesClaim, 'surplus' | 'caseVersion'>): boolean {
  return use.caseVersion <= caseVersion && surplus.includes(use.actionId)
}

/** Returns the same object if nothing changes, so that nothing is written. */
function withUses(stored: ExpectedChangeUses, uses: readonly Use[]): ExpectedChangeUses {
  const textOf = (list: readonly Use[]) =>
    JSON.stringify(list.map(use => [use.actionId, use.amount, use.caseVersion]).sort())
  return textOf(uses) === textOf(stored.uses) ? stored : { ...stored, version: stored.version + 1, uses }
}
