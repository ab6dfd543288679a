import { type ExpectedChangeDocument, idInReference } from '@backstop/contracts'
import type { Case } from '../case/case.ts'
import type { ExpectedChange } from '../case/expected-change.ts'
import { mayNeedNote, notesAbout, withNotes } from '../expected-change/cover-actions.ts'
import { ownIds, usedElsewhere } from '../expected-change/expected-change-uses.ts'
import type { ReconcilerStores } from '../store/store.ts'
import type { StoredUses } from './claim-expected-changes.ts'
import type { Touch } from './work-item.ts'

/** A note counts for what was made before it expired, and that may be told days later. */
const NOTES_COUNT_FOR_MS = 14 * 86_400_000

/**
 * The notes of people that may explain something in a round, for each case those about what it is called, or will be once
 * the round's touches are applied, or about anything.
 * @param looked those of the cases that a look is taken at
 */
export async function touchesOfNotes(
  touches: readonly Touch[],
  cases: readonly Case[],
  looked: readonly Case[],
  stores: Pick<ReconcilerStores, 'expectedChanges' | 'expectedChangeUses'>,
  now: number,
): Promise<NotedRound> {
  const found = await notesFor(touches, cases, looked, stores, now)
  const known = new Set(cases.flatMap(({ notes }) => notes.map(idOf)))
  const ids = [...new Set([...known, ...[...found.values()].flat().map(idOf)])]
  if (ids.length === 0) return { touches: [], uses: new Map() }
  const [uses, standing] = await Promise.all([
    stores.expectedChangeUses.load(ids),
    known.size === 0 ? [] : stores.expectedChanges.byIds([...known]),
  ])
  const stands = new Set(standing.map(({ _id }) => _id))
  const noted = cases.flatMap(theCase => {
    const own = ownIds(theCase)
    const refreshed = [...theCase.notes, ...(found.get(theCase) ?? [])].map(note => {
      // One that was taken back covers nothing more; what it covered stays.
      const isTakenBack = known.has(note.id) && !stands.has(note.id)
      const used = usedElsewhere(uses.get(note.id), own)
      return { ...note, usedElsewhere: isTakenBack ? { ...used, changes: note.maxChanges } : used }
    })
    return withNotes(theCase, refreshed) === theCase ? [] : [touchOf(theCase, refreshed)]
  })
  return { touches: noted, uses }
}

/** The notes of a round, and what is taken of them. */
export interface NotedRound {
  readonly touches: readonly Touch[]
  readonly uses: StoredUses
}

function idOf({ id }: ExpectedChange): string {
  return id
}

/** The notes that are found for each case. */
async function notesFor(
  touches: readonly Touch[],
  cases: readonly Case[],
  looked: readonly Case[],
  { expectedChanges }: Pick<ReconcilerStores, 'expectedChanges'>,
  now: number,
): Promise<ReadonlyMap<Case, readonly ExpectedChange[]>> {
  if (looked.length === 0 && !cases.some(mayNeedNote)) return new Map()
  const named = withNamesToCome(touches, cases).filter(
    ({ theCase, refs }) => looked.includes(theCase) || (refs.size > theCase.refs.length && mayNeedNote(theCase)),
  )
  if (named.length === 0) return new Map()
  const found = await expectedChanges.of({
    projectIds: [...new Set(named.map(({ theCase }) => theCase.projectId))],
    names: [...new Set(named.flatMap(({ refs }) => Array.from(refs, idInReference)))],
    expiringAfter: now - NOTES_COUNT_FOR_MS,
  })
  const all = found.map(expectedChangeOf)
  return new Map(named.map(({ theCase, refs }) => [theCase, notesAbout(all, refs)]))
}

function touchOf({ projectId, refs }: Case, notes: readonly ExpectedChange[]): Touch {
  return {
    projectId,
    refs: refs.slice(0, 1),
    input: () => ({ kind: 'noted', notes }),
    creates: false,
    looks: false,
  }
}

export interface Named {
  readonly theCase: Case
  /** Every reference that leads to it once the touches are applied. */
  readonly refs: ReadonlySet<string>
}

/** Whatever shares a reference becomes one, in whatever order it comes. */
export function withNamesToCome(touches: readonly Touch[], cases: readonly Case[]): Named[] {
  const groupOf = new Map<string, Set<string>>()
  for (const { refs } of [...cases, ...touches]) {
    const groups = new Set(refs.flatMap(ref => groupOf.get(ref) ?? []))
    const joined = new Set([...refs, ...[...groups].flatMap(group => [...group])])
    for (const ref of joined) groupOf.set(ref, joined)
  }
  return cases.map(theCase => ({ theCase, refs: groupOf.get(theCase.refs[0] ?? '') ?? new Set(theCase.refs) }))
}

function expectedChangeOf(document: ExpectedChangeDocument): ExpectedChange {
  const { _id, project_id, connection_id, kind, subject, amount, currency, created_at, starts_at, expires_at } =
    document
  return {
    id: _id,
    projectId: project_id,
    connectionId: connection_id,
    kind,
    subject,
    amount,
    currency,
    notedAt: created_at.getTime(),
    startsAt: starts_at?.getTime() ?? null,
    expiresAt: expires_at.getTime(),
    maxChanges: document.max_changes ?? 1,
    maxAmount: document.max_amount ?? null,
    usedElsewhere: { changes: 0, amount: 0 },
  }
}
