import type { ActionKind } from '@backstop/contracts'
import { EARLIEST_BEFORE_START_MS } from './explain.ts'
import type { ActionRecord, Subject } from './subject.ts'

/** A person's note that a change will come that no operation tells of. Null is any. */
export interface ExpectedChange {
  readonly id: string
  readonly projectId: string
  readonly connectionId: string | null
  readonly kind: ActionKind
  readonly subject: string | null
  /** Minor units. */
  readonly amount: number | null
  readonly currency: string | null
  /** What the provider makes between these times is expected, in milliseconds since the epoch. */
  readonly notedAt: number
  readonly expiresAt: number
}

/** Notes that one subject keeps. */
const MAX_NOTES = 50

/**
 * The subject with the notes of its project that a look found, whatever they are about: a biller may yet tell of another
 * name. Where there are too many, those that explain something are kept, and then those that count longest.
 */
export function withNotes(subject: Subject, found: readonly ExpectedChange[]): Subject {
  const known = new Set(subject.notes.map(note => note.id))
  const news = found.filter(note => note.projectId === subject.projectId && !known.has(note.id))
  if (news.length === 0) return subject
  const all = [...subject.notes, ...news]
  const explaining = new Set(all.filter(note => subject.actions.some(action => covers(note, action))))
  const notes = all
    .toSorted((a, b) => Number(explaining.has(b)) - Number(explaining.has(a)) || b.expiresAt - a.expiresAt)
    .slice(0, MAX_NOTES)
  return { ...subject, notes }
}

/** The note that explains an action: the one that expires first of those that do; undefined where none does. */
export function expectedChangeFor(action: ActionRecord, notes: readonly ExpectedChange[]): ExpectedChange | undefined {
  return notes
    .filter(note => covers(note, action))
    .toSorted((a, b) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1))[0]
}

function covers(note: ExpectedChange, action: ActionRecord): boolean {
  const { connectionId, kind, subject, amount, currency, notedAt, expiresAt } = note
  // Whoever writes it down while doing it is a little late, as providers give whole seconds.
  const from = Math.floor((notedAt - EARLIEST_BEFORE_START_MS) / 1000) * 1000
  return (
    kind === action.kind &&
    (connectionId === null || action.seenThrough.some(connection => connection.id === connectionId)) &&
    (subject === null || action.objectIds.includes(subject)) &&
    (amount === null || amount === action.amount) &&
    (currency === null || currency === action.currency) &&
    from <= action.providerCreatedAt &&
    action.providerCreatedAt < expiresAt
  )
}
