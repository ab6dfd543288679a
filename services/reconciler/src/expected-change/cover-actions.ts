import { idInReference } from '@backstop/contracts'
import { type ActionRecord, type Case, isJudged } from '../case/case.ts'
import type { ExpectedChange, StoredNote, Used } from '../case/expected-change.ts'
import { EARLIEST_BEFORE_START_MS } from '../case/time-windows.ts'

/** A stored note whole: one without limits covers one change, of any amount. */
export function wholeNote(note: StoredNote): ExpectedChange {
  return {
    ...note,
    startsAt: note.startsAt ?? null,
    maxChanges: note.maxChanges ?? 1,
    maxAmount: note.maxAmount ?? null,
    usedElsewhere: note.usedElsewhere ?? { changes: 0, amount: 0 },
  }
}

/** Those of the notes that are about anything, or about an object that the references name. */
export function notesAbout(notes: readonly ExpectedChange[], refs: Iterable<string>): readonly ExpectedChange[] {
  const names = new Set(Array.from(refs, idInReference))
  return notes.filter(({ subject }) => subject === null || names.has(subject))
}

/**
 * Whether a note about a name that the case is yet to learn may explain what nothing does. What still waits for a look
 * has the notes looked up by all its names then, and so has what loses its explanation; what is settled without one has not.
 */
export function mayNeedNote({ actions }: Case): boolean {
  return actions.some(
    action => isJudged(action) && (action.verdict === 'unexplained' || action.verdict === 'not_alerted'),
  )
}

/** Notes that one case keeps. */
const MAX_NOTES = 50

/**
 * The case with the notes of its project that were found, whatever they are about: the name that one is about may be that
 * of an event of the same batch, or of a case that turns out to be this one. A note that is known already learns what is
 * taken of it by now. Where there are too many, those that explain something are kept, and then those that count longest.
 */
export function withNotes(theCase: Case, found: readonly ExpectedChange[]): Case {
  const own = new Map(found.filter(note => note.projectId === theCase.projectId).map(note => [note.id, note]))
  const known = new Set(theCase.notes.map(note => note.id))
  const isNews = ({ id, usedElsewhere: { changes, amount } }: ExpectedChange) => {
    const used = own.get(id)?.usedElsewhere
    return used !== undefined && (used.changes !== changes || used.amount !== amount)
  }
  const news = [...own.values()].filter(({ id }) => !known.has(id))
  if (news.length === 0 && !theCase.notes.some(isNews)) return theCase
  const all = [...theCase.notes.map(note => (isNews(note) ? (own.get(note.id) ?? note) : note)), ...news]
  const held = new Set(theCase.actions.map(action => action.expectedChangeId))
  const explaining = new Set(
    all.filter(note => held.has(note.id) || theCase.actions.some(action => covers(note, action))),
  )
  const notes = all
    .toSorted((a, b) => Number(explaining.has(b)) - Number(explaining.has(a)) || b.expiresAt - a.expiresAt)
    .slice(0, MAX_NOTES)
  return { ...theCase, notes }
}

/** The notes of two cases that became one: what the one had taken elsewhere is the other's own now. */
export function mergeNotes(winner: Case, loser: Case): readonly ExpectedChange[] {
  const ofLoser = new Set(loser.notes.map(note => note.id))
  const joined = winner.notes.map(note => {
    if (!ofLoser.has(note.id)) return note
    const { changes, amount } = usedBy(loser.actions, note.id)
    const { usedElsewhere } = note
    const left = {
      changes: Math.max(0, usedElsewhere.changes - changes),
      amount: Math.max(0, usedElsewhere.amount - amount),
    }
    return { ...note, usedElsewhere: left }
  })
  return [...joined, ...loser.notes.filter(note => !winner.notes.some(own => own.id === note.id))]
}

/**
 * The note that explains an action: the one that does already, or else the one that expires first of those that cover it and
 * are not used up; undefined where none does.
 */
export function expectedChangeFor({ notes, actions }: Case, action: ActionRecord): ExpectedChange | undefined {
  const fitting = notes.filter(note => covers(note, action) && hasRoomFor(note, action, actions))
  const held = fitting.find(isHeldBy(action))
  return held ?? fitting.toSorted((a, b) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1))[0]
}

/** What the actions take of an expected change. */
export function usedBy(actions: readonly ActionRecord[], noteId: string): Used {
  const holding = actions.filter(action => action.expectedChangeId === noteId)
  return { changes: holding.length, amount: holding.reduce((sum, { amount }) => sum + (amount ?? 0), 0) }
}

function isHeldBy({ expectedChangeId }: ActionRecord): (note: ExpectedChange) => boolean {
  return note => note.id === expectedChangeId
}

/** Whether a note is not used up for this action by what the others have taken. Whatever has a use keeps it. */
function hasRoomFor(note: ExpectedChange, action: ActionRecord, actions: readonly ActionRecord[]): boolean {
  if (note.maxAmount === null && isHeldBy(action)(note)) return true
  const own = usedBy(
    actions.filter(({ id }) => id !== action.id),
    note.id,
  )
  const { changes, amount } = note.usedElsewhere
  const fitsAmount = note.maxAmount === null || amount + own.amount + (action.amount ?? 0) <= note.maxAmount
  return fitsAmount && (isHeldBy(action)(note) || changes + own.changes < note.maxChanges)
}

function covers(note: ExpectedChange, action: ActionRecord): boolean {
  const { connectionId, kind, subject, amount, currency, maxAmount } = note
  return (
    kind === action.kind &&
    (connectionId === null || action.seenThrough.some(connection => connection.id === connectionId)) &&
    (subject === null || action.objectIds.includes(subject)) &&
    (amount === null || amount === action.amount) &&
    (currency === null || currency === action.currency) &&
    (maxAmount === null || action.amount !== null) &&
    isInTime(note, action)
  )
}

/**
 * Whether an action was made at the time of a note. Where the note says from when it counts, that decides. Where it does not,
 * it counts from when it was noted, and for what people had not finished with then: a second look to come, an open incident.
 */
function isInTime(note: ExpectedChange, action: ActionRecord): boolean {
  const { startsAt, notedAt, expiresAt } = note
  if (action.providerCreatedAt >= expiresAt) return false
  // Whoever writes it down while doing it is a little late, and providers give whole seconds.
  const from = Math.floor((startsAt ?? notedAt - EARLIEST_BEFORE_START_MS) / 1000) * 1000
  if (from <= action.providerCreatedAt) return true
  if (startsAt !== null) return false
  // Whether it was open is decided once: what the note resolved is not open any more.
  return isHeldBy(action)(note) || (action.firstSeenAt <= notedAt && wasOpenAt(action, notedAt))
}

/** Whether nothing was settled about an action then: its second look was to come, or its incident was open. */
function wasOpenAt({ look, incidents }: ActionRecord, at: number): boolean {
  if (look === null || look.doneAt === null || look.doneAt > at) return true
  return incidents.some(
    ({ code, openedAt, resolvedAt }) =>
      code === 'UNEXPECTED_ACTION' && openedAt <= at && (resolvedAt === null || resolvedAt >= at),
  )
}
