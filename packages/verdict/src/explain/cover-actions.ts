import { idInReference, type Period } from '@backstop/contracts'
import { type ActionRecord, needsVerdict } from '../case/action-record.ts'
import type { Case } from '../case/case.ts'
import { actorOfDetails } from '../case/details.ts'
import type { ExpectedChange, ExpectedChangeUsage, UsedElsewhere } from '../case/expected-change.ts'
import { customerIdsOf, detailsOf } from '../case/sides.ts'
import { EARLIEST_BEFORE_START_MS } from './time-windows.ts'

/** The expected changes without a subject, and those whose subject is one of these references. */
export function expectedChangesAbout(
  expectedChanges: readonly ExpectedChange[],
  refs: Iterable<string>,
): readonly ExpectedChange[] {
  const names = new Set(Array.from(refs, idInReference))
  return expectedChanges.filter(({ subject }) => subject === null || names.has(subject))
}

/**
 * True if the case must look up expected changes when it gets a new name, because it has an action that is unexplained
 * or did not alert. A pending action needs no lookup: its second look does it, with all names that are known then.
 */
export function mayNeedExpectedChange({ actions }: Case): boolean {
  return actions.some(
    action => needsVerdict(action) && (action.verdict === 'unexplained' || action.verdict === 'not_alerted'),
  )
}

/** Expected changes that one case keeps, besides those that explain its actions: one with an interval may be there once for each period. */
const MAX_EXPECTED_CHANGES = 50

/**
 * Adds the loaded expected changes of the case's project, and updates how much of the known ones is used elsewhere.
 * Some may be about a name that the case gets later in the batch, so all are kept if possible. If there are too many,
 * those that cover an action are kept first, and then those that expire last.
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
      expectedChange =>
        held.has(expectedChange.id) || theCase.actions.some(action => coverageOf(expectedChange, action) !== 'none'),
    ),
  )
  const rankOf = (expectedChange: ExpectedChange) =>
    Number(held.has(expectedChange.id)) + Number(explaining.has(expectedChange))
  const expectedChanges = all
    .toSorted(
      (a, b) =>
        rankOf(b) - rankOf(a) || b.expiresAt - a.expiresAt || (b.period?.startsAt ?? 0) - (a.period?.startsAt ?? 0),
    )
    .slice(0, MAX_EXPECTED_CHANGES + held.size)
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

/**
 * Merges the expected changes of two cases. Uses of the other case, which count as used elsewhere before the merge, are
 * subtracted, because they belong to the merged case now.
 */
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
 * The expected change that explains an action: the one that already does, or else the first to expire of those that
 * cover the action and are not used up; undefined if there is none.
 */
export function expectedChangeFor(
  { expectedChanges, actions }: Case,
  action: ActionRecord,
): ExpectedChange | undefined {
  const fitting = expectedChanges.filter(
    expectedChange => covers(expectedChange, action) && canStillCover(expectedChange, action, actions),
  )
  const held = fitting.find(isUsedBy(action))
  return held ?? fitting.toSorted(byExpiry)[0]
}

/** How much of an expected change the actions use. */
export function usedBy(actions: readonly ActionRecord[], expectedChangeId: string): ExpectedChangeUsage {
  const holding = actions.filter(action => action.expectedChangeId === expectedChangeId)
  return { changes: holding.length, amount: holding.reduce((sum, { amount }) => sum + (amount ?? 0), 0) }
}

function isUsedBy({ expectedChangeId }: ActionRecord): (expectedChange: ExpectedChange) => boolean {
  return expectedChange => expectedChange.id === expectedChangeId
}

/**
 * Why an expected change that fits an action does not explain it: it was deleted, its changes or its amount are used up, or it is
 * limited to a customer or an actor, and the provider names none.
 */
export type UsedUpReason = 'deleted' | 'changes' | 'amount' | 'customer_unknown' | 'actor_unknown'

/** True if enough of the expected change is left for this action. An action that already uses it keeps its use. */
function canStillCover(
  expectedChange: ExpectedChange,
  action: ActionRecord,
  actions: readonly ActionRecord[],
): boolean {
  return usedUpReasonOf(expectedChange, action, actions) === null
}

function usedUpReasonOf(
  expectedChange: ExpectedChange,
  action: ActionRecord,
  actions: readonly ActionRecord[],
): UsedUpReason | null {
  const { maxChanges, maxAmount, usedElsewhere } = expectedChange
  const isHeld = isUsedBy(action)(expectedChange)
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

/** An expected change that fits an action, but does not explain it. */
export interface UsedUp {
  readonly expectedChange: ExpectedChange
  readonly lack: UsedUpReason
  /** Ids of some actions that used it, those of the same case first. */
  readonly by: readonly string[]
  /** How much of it is used in total. */
  readonly used: ExpectedChangeUsage
}

/** Of the expected changes that fit an action, the first to expire, if it does not explain it; undefined otherwise. */
export function usedUpFor({ expectedChanges, actions }: Case, action: ActionRecord): UsedUp | undefined {
  const fitting = expectedChanges
    .map(expectedChange => ({ expectedChange, coverage: coverageOf(expectedChange, action) }))
    .filter(({ coverage }) => coverage !== 'none')
    .toSorted((a, b) => byExpiry(a.expectedChange, b.expectedChange))
  const found = fitting.find(({ coverage }) => coverage === 'full') ?? fitting[0]
  if (found === undefined) return undefined
  const { expectedChange: first, coverage } = found
  const lack = coverage === 'full' ? usedUpReasonOf(first, action, actions) : (coverage as UsedUpReason)
  if (lack === null) return undefined
  const { usedElsewhere } = first
  const own = usedBy(actions, first.id)
  return {
    expectedChange: first,
    lack,
    by: [...actions.filter(action => isUsedBy(action)(first)).map(({ id }) => id), ...(usedElsewhere.by ?? [])],
    used: { changes: usedElsewhere.changes + own.changes, amount: usedElsewhere.amount + own.amount },
  }
}

function byExpiry(a: ExpectedChange, b: ExpectedChange): number {
  return a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1)
}

function covers(expectedChange: ExpectedChange, action: ActionRecord): boolean {
  return coverageOf(expectedChange, action) === 'full'
}

type Coverage = 'full' | 'customer_unknown' | 'actor_unknown' | 'none'

/**
 * Whether an expected change covers an action. `unknown`: it would, but is limited to a customer or an actor, and the provider names
 * none. A name is erased with the personal data of the action, so an action that is already covered stays covered without it.
 */
function coverageOf(expectedChange: ExpectedChange, action: ActionRecord): Coverage {
  if (!fits(expectedChange, action)) return 'none'
  const { customerId, actorId } = expectedChange
  if (customerId === undefined && actorId === undefined) return 'full'
  const customers = customerIdsOf(action)
  const { actor_id: actor } = actorOfDetails(detailsOf(action))
  if (customerId !== undefined && customers.length > 0 && !customers.includes(customerId)) return 'none'
  if (actorId !== undefined && actor !== undefined && actor !== actorId) return 'none'
  if (isUsedBy(action)(expectedChange)) return 'full'
  if (customerId !== undefined && customers.length === 0) return 'customer_unknown'
  return actorId !== undefined && actor === undefined ? 'actor_unknown' : 'full'
}

function fits(expectedChange: ExpectedChange, action: ActionRecord): boolean {
  const { connectionId, kind, subject, amount, currency, maxAmount } = expectedChange
  return (
    kind === action.kind &&
    (connectionId === null || action.seenThrough.some(connection => connection.id === connectionId)) &&
    (subject === null || action.objectIds.includes(subject)) &&
    (amount === null || amount === action.amount) &&
    (currency === null || currency === action.currency) &&
    (maxAmount === null || action.amount !== null) &&
    isAboutIncident(expectedChange, action) &&
    isInTime(expectedChange, action)
  )
}

/** True if the expected change is about no incident, or about one of the action's that was resolved as our own change. */
function isAboutIncident({ incidentId }: ExpectedChange, action: ActionRecord): boolean {
  return incidentId === undefined || isOurOwnChange(action, incidentId)
}

/** True if the action has this incident, and it was resolved as our own change. */
export function isOurOwnChange({ incidents }: ActionRecord, incidentId: string): boolean {
  const incident = incidents.find(({ id }) => id === incidentId)
  return incident?.state === 'resolved' && incident.lifeCycle?.reason === 'our_own_change'
}

/**
 * True if the action was made at a time that the expected change covers. If the expected change has no start, it covers
 * actions from its creation on, and older actions that were still open then.
 */
function isInTime(expectedChange: ExpectedChange, action: ActionRecord): boolean {
  const { startsAt, createdAt, expiresAt, period } = expectedChange
  if (action.providerCreatedAt >= expiresAt) return false
  if (period !== undefined && !isWithin(period, action.providerCreatedAt)) return false
  // People often create an expected change shortly after the change, and providers give times in whole seconds.
  const from = Math.floor((startsAt ?? createdAt - EARLIEST_BEFORE_START_MS) / 1000) * 1000
  if (from <= action.providerCreatedAt) return true
  if (startsAt !== null) return false
  // An action that is already covered stays covered, because the expected change itself resolved its incident.
  return isUsedBy(action)(expectedChange) || (action.firstSeenAt <= createdAt && wasOpenAt(action, createdAt))
}

function isWithin({ startsAt, endsAt }: Period, at: number): boolean {
  return startsAt <= at && at < endsAt
}

/** True if the action's second look was still to come at this time, or its incident was open. */
function wasOpenAt({ look, incidents }: ActionRecord, at: number): boolean {
  if (look === null || look.doneAt === null || look.doneAt > at) return true
  return incidents.some(
    ({ code, openedAt, resolvedAt }) =>
      code === 'UNEXPECTED_ACTION' && openedAt <= at && (resolvedAt === null || resolvedAt >= at),
  )
}
