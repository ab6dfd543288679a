import { idInReference } from '@backstop/contracts'
import { type ActionRecord, isJudged } from '../case/action-record.ts'
import type { Case } from '../case/case.ts'
import type { ExpectedChange, Used, UsedElsewhere } from '../case/expected-change.ts'
import { EARLIEST_BEFORE_START_MS } from '../case/time-windows.ts'

/** Those of the expected changes that are about anything, or about an object that the references name. */
export function expectedChangesAbout(
  expectedChanges: readonly ExpectedChange[],
  refs: Iterable<string>,
): readonly ExpectedChange[] {
  const names = new Set(Array.from(refs, idInReference))
  return expectedChanges.filter(({ subject }) => subject === null || names.has(subject))
}

/**
 * Whether an expected change about a name that the case is yet to learn may explain what nothing does. What still waits for a look
 * has the expected changes looked up by all its names then, and so has what loses its explanation; what is settled without one has not.
 */
export function mayNeedExpectedChange({ actions }: Case): boolean {
  return actions.some(
    action => isJudged(action) && (action.verdict === 'unexplained' || action.verdict === 'not_alerted'),
  )
}

/** Expected changes that one case keeps. */
const MAX_EXPECTED_CHANGES = 50

/**
 * The case with the expected changes of its project that were found, whatever they are about: the name that one is about may be that
 * of an event of the same batch, or of a case that turns out to be this one. An expected change that is known already learns what is
 * taken of it by now. Where there are too many, those that explain something are kept, and then those that count longest.
 */
export function withExpectedChanges(theCase: Case, found: readonly ExpectedChange[]): Case {
  const own = new Map(
    found
      .filter(expectedChange => expectedChange.projectId === theCase.projectId)
      .map(expectedChange => [expectedChange.id, expectedChange]),
  )
  const known = new Set(theCase.expectedChanges.map(expectedChange => expectedChange.id))
  const isNews = ({ id, usedElsewhere }: ExpectedChange) => {
    const used = own.get(id)?.usedElsewhere
    return used !== undefined && !isSameUse(used, usedElsewhere)
  }
  const news = [...own.values()].filter(({ id }) => !known.has(id))
  if (news.length === 0 && !theCase.expectedChanges.some(isNews)) return theCase
  const all = [
    ...theCase.expectedChanges.map(expectedChange =>
      isNews(expectedChange) ? (own.get(expectedChange.id) ?? expectedChange) : expectedChange,
    ),
    ...news,
  ]
  const held = new Set(theCase.actions.map(action => action.expectedChangeId))
  const explaining = new Set(
    all.filter(
      expectedChange => held.has(expectedChange.id) || theCase.actions.some(action => covers(expectedChange, action)),
    ),
  )
  const expectedChanges = all
    .toSorted((a, b) => Number(explaining.has(b)) - Number(explaining.has(a)) || b.expiresAt - a.expiresAt)
    .slice(0, MAX_EXPECTED_CHANGES)
  return { ...theCase, expectedChanges }
}

function isSameUse(a: UsedElsewhere, b: UsedElsewhere): boolean {
  return (
    a.changes === b.changes &&
    a.amount === b.amount &&
    a.isDeleted === b.isDeleted &&
    (a.by ?? []).join() === (b.by ?? []).join()
  )
}

/** The expected changes of two cases that became one: what the one had taken elsewhere is the other's own now. */
export function mergeExpectedChanges(winner: Case, loser: Case): readonly ExpectedChange[] {
  const ofLoser = new Set(loser.expectedChanges.map(expectedChange => expectedChange.id))
  const joined = winner.expectedChanges.map(expectedChange => {
    if (!ofLoser.has(expectedChange.id)) return expectedChange
    const { changes, amount } = usedBy(loser.actions, expectedChange.id)
    const { usedElsewhere } = expectedChange
    const own = new Set(loser.actions.map(({ id }) => id))
    const left = {
      ...usedElsewhere,
      changes: Math.max(0, usedElsewhere.changes - changes),
      amount: Math.max(0, usedElsewhere.amount - amount),
      by: (usedElsewhere.by ?? []).filter(id => !own.has(id)),
    }
    return { ...expectedChange, usedElsewhere: left }
  })
  return [
    ...joined,
    ...loser.expectedChanges.filter(
      expectedChange => !winner.expectedChanges.some(own => own.id === expectedChange.id),
    ),
  ]
}

/**
 * The expected change that explains an action: the one that does already, or else the one that expires first of those that cover it and
 * are not used up; undefined where none does.
 */
export function expectedChangeFor(
  { expectedChanges, actions }: Case,
  action: ActionRecord,
): ExpectedChange | undefined {
  const fitting = expectedChanges.filter(
    expectedChange => covers(expectedChange, action) && hasRoomFor(expectedChange, action, actions),
  )
  const held = fitting.find(isHeldBy(action))
  return held ?? fitting.toSorted(byExpiry)[0]
}

/** What the actions take of an expected change. */
export function usedBy(actions: readonly ActionRecord[], expectedChangeId: string): Used {
  const holding = actions.filter(action => action.expectedChangeId === expectedChangeId)
  return { changes: holding.length, amount: holding.reduce((sum, { amount }) => sum + (amount ?? 0), 0) }
}

function isHeldBy({ expectedChangeId }: ActionRecord): (expectedChange: ExpectedChange) => boolean {
  return expectedChange => expectedChange.id === expectedChangeId
}

/** Why an expected change that covers an action explains it no more; null where it does. */
export type Lack = 'deleted' | 'changes' | 'amount'

/** Whether an expected change is not used up for this action by what the others have taken. Whatever has a use keeps it. */
function hasRoomFor(expectedChange: ExpectedChange, action: ActionRecord, actions: readonly ActionRecord[]): boolean {
  return lackOf(expectedChange, action, actions) === null
}

function lackOf(expectedChange: ExpectedChange, action: ActionRecord, actions: readonly ActionRecord[]): Lack | null {
  const { maxChanges, maxAmount, usedElsewhere } = expectedChange
  const isHeld = isHeldBy(action)(expectedChange)
  if (maxAmount === null && isHeld) return null
  const own = usedBy(
    actions.filter(({ id }) => id !== action.id),
    expectedChange.id,
  )
  if (!isHeld && usedElsewhere.changes + own.changes >= maxChanges) {
    return usedElsewhere.isDeleted ? 'deleted' : 'changes'
  }
  return maxAmount !== null && usedElsewhere.amount + own.amount + (action.amount ?? 0) > maxAmount ? 'amount' : null
}

/** An expected change that covers an action, but of which too little is left to explain it. */
export interface UsedUp {
  readonly expectedChange: ExpectedChange
  readonly lack: Lack
  /** Some of the actions that used it: first those of the same case. */
  readonly by: readonly string[]
  /** What all of them took of it. */
  readonly used: Used
}

/** The expected change that would explain an action if more of it were left, the one that expires first; undefined where none would. */
export function usedUpFor({ expectedChanges, actions }: Case, action: ActionRecord): UsedUp | undefined {
  const [first] = expectedChanges.filter(expectedChange => covers(expectedChange, action)).toSorted(byExpiry)
  const lack = first === undefined ? null : lackOf(first, action, actions)
  if (first === undefined || lack === null) return undefined
  const { usedElsewhere } = first
  const own = usedBy(actions, first.id)
  return {
    expectedChange: first,
    lack,
    by: [...actions.filter(one => isHeldBy(one)(first)).map(({ id }) => id), ...(usedElsewhere.by ?? [])],
    used: { changes: usedElsewhere.changes + own.changes, amount: usedElsewhere.amount + own.amount },
  }
}

function byExpiry(a: ExpectedChange, b: ExpectedChange): number {
  return a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1)
}

function covers(expectedChange: ExpectedChange, action: ActionRecord): boolean {
  const { connectionId, kind, subject, amount, currency, maxAmount } = expectedChange
  return (
    kind === action.kind &&
    (connectionId === null || action.seenThrough.some(connection => connection.id === connectionId)) &&
    (subject === null || action.objectIds.includes(subject)) &&
    (amount === null || amount === action.amount) &&
    (currency === null || currency === action.currency) &&
    (maxAmount === null || action.amount !== null) &&
    isInTime(expectedChange, action)
  )
}

/**
 * Whether an action was made at the time of an expected change. Where the expected change says from when it counts, that decides. Where it does not,
 * it counts from when it was created, and for what people had not finished with then: a second look to come, an open incident.
 */
function isInTime(expectedChange: ExpectedChange, action: ActionRecord): boolean {
  const { startsAt, createdAt, expiresAt } = expectedChange
  if (action.providerCreatedAt >= expiresAt) return false
  // Whoever writes it down while doing it is a little late, and providers give whole seconds.
  const from = Math.floor((startsAt ?? createdAt - EARLIEST_BEFORE_START_MS) / 1000) * 1000
  if (from <= action.providerCreatedAt) return true
  if (startsAt !== null) return false
  // Whether it was open is decided once: what the expected change resolved is not open any more.
  return isHeldBy(action)(expectedChange) || (action.firstSeenAt <= createdAt && wasOpenAt(action, createdAt))
}

/** Whether nothing was settled about an action then: its second look was to come, or its incident was open. */
function wasOpenAt({ look, incidents }: ActionRecord, at: number): boolean {
  if (look === null || look.doneAt === null || look.doneAt > at) return true
  return incidents.some(
    ({ code, openedAt, resolvedAt }) =>
      code === 'UNEXPECTED_ACTION' && openedAt <= at && (resolvedAt === null || resolvedAt >= at),
  )
}
