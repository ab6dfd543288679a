import { type ExpectedChangeDocument, idInReference } from '@backstop/contracts'
import type { Subject } from '../case/case.ts'
import type { ExpectedChange } from '../case/expected-change.ts'
import { mayNeedNote, notesAbout, withNotes } from '../expected-change/cover-actions.ts'
import { ownIds, usedElsewhere } from '../expected-change/expected-change-uses.ts'
import type { ReconcilerStores } from '../store/store.ts'
import type { StoredUses } from './claim-expected-changes.ts'
import type { Touch } from './work-item.ts'

/** A note counts for what was made before it expired, and that may be told days later. */
const NOTES_COUNT_FOR_MS = 14 * 86_400_000

/**
 * The notes of people that may explain something in a round, for each subject those about what it is called, or will be once
 * the round's touches are applied, or about anything.
 * @param looked those of the subjects that a look is taken at
 */
export async function touchesOfNotes(
  touches: readonly Touch[],
  subjects: readonly Subject[],
  looked: readonly Subject[],
  stores: Pick<ReconcilerStores, 'expectedChanges' | 'expectedChangeUses'>,
  now: number,
): Promise<NotedRound> {
  const found = await notesFor(touches, subjects, looked, stores, now)
  const known = new Set(subjects.flatMap(({ notes }) => notes.map(idOf)))
  const ids = [...new Set([...known, ...[...found.values()].flat().map(idOf)])]
  if (ids.length === 0) return { touches: [], uses: new Map() }
  const [uses, standing] = await Promise.all([
    stores.expectedChangeUses.load(ids),
    known.size === 0 ? [] : stores.expectedChanges.byIds([...known]),
  ])
  const stands = new Set(standing.map(({ _id }) => _id))
  const noted = subjects.flatMap(subject => {
    const own = ownIds(subject)
    const refreshed = [...subject.notes, ...(found.get(subject) ?? [])].map(note => {
      // One that was taken back covers nothing more; what it covered stays.
      const isTakenBack = known.has(note.id) && !stands.has(note.id)
      const used = usedElsewhere(uses.get(note.id), own)
      return { ...note, usedElsewhere: isTakenBack ? { ...used, changes: note.maxChanges } : used }
    })
    return withNotes(subject, refreshed) === subject ? [] : [touchOf(subject, refreshed)]
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

/** The notes that are found for each subject. */
async function notesFor(
  touches: readonly Touch[],
  subjects: readonly Subject[],
  looked: readonly Subject[],
  { expectedChanges }: Pick<ReconcilerStores, 'expectedChanges'>,
  now: number,
): Promise<ReadonlyMap<Subject, readonly ExpectedChange[]>> {
  if (looked.length === 0 && !subjects.some(mayNeedNote)) return new Map()
  const named = withNamesToCome(touches, subjects).filter(
    ({ subject, refs }) => looked.includes(subject) || (refs.size > subject.refs.length && mayNeedNote(subject)),
  )
  if (named.length === 0) return new Map()
  const found = await expectedChanges.of({
    projectIds: [...new Set(named.map(({ subject }) => subject.projectId))],
    names: [...new Set(named.flatMap(({ refs }) => Array.from(refs, idInReference)))],
    expiringAfter: now - NOTES_COUNT_FOR_MS,
  })
  const all = found.map(expectedChangeOf)
  return new Map(named.map(({ subject, refs }) => [subject, notesAbout(all, refs)]))
}

function touchOf({ projectId, refs }: Subject, notes: readonly ExpectedChange[]): Touch {
  return {
    projectId,
    refs: refs.slice(0, 1),
    input: () => ({ kind: 'noted', notes }),
    creates: false,
    looks: false,
  }
}

export interface Named {
  readonly subject: Subject
  /** Every reference that leads to it once the touches are applied. */
  readonly refs: ReadonlySet<string>
}

/** Whatever shares a reference becomes one, in whatever order it comes. */
export function withNamesToCome(touches: readonly Touch[], subjects: readonly Subject[]): Named[] {
  const groupOf = new Map<string, Set<string>>()
  for (const { refs } of [...subjects, ...touches]) {
    const groups = new Set(refs.flatMap(ref => groupOf.get(ref) ?? []))
    const joined = new Set([...refs, ...[...groups].flatMap(group => [...group])])
    for (const ref of joined) groupOf.set(ref, joined)
  }
  return subjects.map(subject => ({ subject, refs: groupOf.get(subject.refs[0] ?? '') ?? new Set(subject.refs) }))
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
