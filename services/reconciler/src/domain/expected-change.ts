import { type ActionKind, idInReference } from '@backstop/contracts'
import { EARLIEST_BEFORE_START_MS } from './explain.ts'
import { type ActionRecord, isJudged, type Subject } from './subject.ts'

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

/** Those of the notes that are about anything, or about an object that the references name. */
export function notesAbout(notes: readonly ExpectedChange[], refs: Iterable<string>): readonly ExpectedChange[] {
  const names = new Set(Array.from(refs, idInReference))
  return notes.filter(({ subject }) => subject === null || names.has(subject))
}

/**
 * Whether a note about a name that the subject is yet to learn may explain what nothing does. What still waits for a look
 * has the notes looked up by all its names then, and so has what loses its explanation; what is settled without one has not.
 */
export function mayNeedNote({ actions }: Subject): boolean {
  return actions.some(
    action => isJudged(action) && (action.verdict === 'unexplained' || action.verdict === 'not_alerted'),
  )
}

/** Notes that one subject keeps. */
const MAX_NOTES = 50

/**
 * The subject with the notes of its project that were found, whatever they are about: the name that one is about may be that
 * of an event of the same batch, or of a subject that turns out to be this one. Where there are too many, those that explain something are kept, and then those that count longest.
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
