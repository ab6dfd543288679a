import type { ExpectedChange, Used } from './expected-change.ts'
import type { ActionRecord, Subject } from './subject.ts'

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
}

/** What one case wants of an expected change. */
export interface Wish {
  readonly subjectId: string
  readonly uses: readonly Use[]
  /** Uses of its own that the case does not need any more: they make room for these, and stay otherwise. */
  readonly surplus: readonly string[]
}

/** What a case has of an expected change at the end of a decision, and what it needs. */
export interface Needs {
  readonly note: ExpectedChange
  readonly wish: Wish
  /** Whether it needs a use that it did not have before. */
  readonly isMore: boolean
}

/** The names that a case's uses may stand under. */
export function ownIds({ actions, merged }: Subject): ReadonlySet<string> {
  return new Set([...actions.map(({ id }) => id), ...merged.map(({ record }) => record.id)])
}

/** What of an expected change is taken by others than these actions. A use that its own case has in reserve counts for nobody. */
export function usedElsewhere(stored: ExpectedChangeUses | undefined, own: ReadonlySet<string>): Used {
  const others = (stored?.uses ?? []).filter(({ actionId }) => !own.has(actionId))
  return { changes: others.length, amount: others.reduce((sum, { amount }) => sum + amount, 0) }
}

/** What a case needs of each of its expected changes. */
export function needsOf(
  subject: Subject,
  before: Subject | undefined,
  stored: ReadonlyMap<string, ExpectedChangeUses>,
): Needs[] {
  const own = ownIds(subject)
  return subject.notes.flatMap(note => {
    const uses = subject.actions.filter(holds(note)).map(useOf)
    const needed = new Set(uses.map(({ actionId }) => actionId))
    const had = (before?.actions ?? []).filter(holds(note)).map(useOf)
    const isMore = uses.some(use => !had.some(one => one.actionId === use.actionId && one.amount === use.amount))
    const known = [
      ...(stored.get(note.id)?.uses ?? []).map(({ actionId }) => actionId),
      ...had.map(one => one.actionId),
    ]
    const surplus = [...new Set(known)].filter(id => own.has(id) && !needed.has(id))
    if (!isMore && surplus.length === 0) return []
    return [{ note, wish: { subjectId: subject.id, uses, surplus }, isMore }]
  })
}

function holds({ id }: ExpectedChange): (action: ActionRecord) => boolean {
  return action => action.expectedChangeId === id
}

function useOf({ id, amount }: ActionRecord): Use {
  return { actionId: id, amount: amount ?? 0 }
}

/**
 * The uses once every wish that fits is granted, in their order.
 * @returns the cases whose wish does not fit: they are to be decided again
 */
export function grant(
  stored: ExpectedChangeUses,
  { maxChanges, maxAmount }: Pick<ExpectedChange, 'maxChanges' | 'maxAmount'>,
  wishes: readonly Wish[],
): { readonly next: ExpectedChangeUses; readonly refused: ReadonlySet<string> } {
  const fits = (uses: readonly Use[]) =>
    uses.length <= maxChanges && (maxAmount === null || uses.reduce((sum, { amount }) => sum + amount, 0) <= maxAmount)
  const refused = new Set<string>()
  let uses = stored.uses
  for (const wish of wishes) {
    const wanted = new Set(wish.uses.map(({ actionId }) => actionId))
    const others = uses.filter(({ actionId }) => !wanted.has(actionId))
    const kept = [...others, ...wish.uses]
    const swapped = kept.filter(({ actionId }) => !wish.surplus.includes(actionId))
    if (fits(kept)) uses = kept
    else if (fits(swapped)) uses = swapped
    else refused.add(wish.subjectId)
  }
  return { next: withUses(stored, uses), refused }
}

/** The uses without those that are given back. */
export function giveBack(stored: ExpectedChangeUses, actionIds: readonly string[]): ExpectedChangeUses {
  return withUses(
    stored,
    stored.uses.filter(({ actionId }) => !actionIds.includes(actionId)),
  )
}

/** The same object where nothing changes, so that nothing is written. */
function withUses(stored: ExpectedChangeUses, uses: readonly Use[]): ExpectedChangeUses {
  const textOf = (list: readonly Use[]) => JSON.stringify(list.map(use => [use.actionId, use.amount]).sort())
  return textOf(uses) === textOf(stored.uses) ? stored : { ...stored, version: stored.version + 1, uses }
}
