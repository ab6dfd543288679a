import { PERSONAL_DATA_DAYS } from '@backstop/contracts'
import type { ActionRecord } from './action-record.ts'
import { allDetailsOf, lastShownAt } from './all-details.ts'
import { type Case, mapChanged, type RefundTotal, type SubscriptionRow, withAll } from './case.ts'
import { asDetails, hasPersonalData, type KnownDetails, withoutCustomer, withoutPersonalData } from './details.ts'
import type { PersonMatcher } from './person.ts'

/**
 * The name and the e-mail address of a customer, and the user of a provider's dashboard. They are erased a fixed time
 * after an action was first seen, or earlier with the connection that showed them. Those of a customer are erased when
 * people ask for it.
 */

const DAY_MS = 86_400_000
const KEPT_FOR_MS = PERSONAL_DATA_DAYS * DAY_MS
/** A delivery is kept for half of that time, so an alert of the first half expires with the action at the latest. */
const ALERTED_FOR_MS = KEPT_FOR_MS / 2

/** True if the personal data of an action that was first seen at this time must be erased. */
export function isPersonalDataExpired(firstSeenAt: number, now: number): boolean {
  return erasedAt(firstSeenAt) <= now
}

/** True if an alert about an action that was first seen at this time may contain personal data. */
export function mayAlertPersonalData(firstSeenAt: number, now: number): boolean {
  return now - firstSeenAt < ALERTED_FOR_MS
}

/** Whole days, so that most changes of a case leave its time in the index as it is. */
function erasedAt(since: number): number {
  return Math.floor((since + KEPT_FOR_MS) / DAY_MS) * DAY_MS
}

/** When personal data of the case must be erased next, in milliseconds since the epoch; undefined if it has none. */
export function nextErasureAt(theCase: Case): number | undefined {
  let earliest = Infinity
  for (const [details, since] of allDetailsOf(theCase)) {
    if (hasPersonalData(details)) earliest = Math.min(earliest, erasedAt(since))
  }
  return earliest === Infinity ? undefined : earliest
}

/** Erases personal data: `expired` only data whose time is over, `all` everything, a person the data of the customer. */
export type ErasureScope = 'expired' | 'all' | PersonScope

interface PersonScope {
  readonly erasureId: string
  readonly person: Pick<PersonMatcher, 'email' | 'isShownBy'>
}

/**
 * Erases personal data. Returns the same case if there is nothing to erase.
 * @param scope all: the connection that showed it was deleted; erasureId: somebody asked to erase the customer of the case
 */
export function erasePersonalData(theCase: Case, scope: ErasureScope, now: number): Case {
  if (typeof scope === 'object') {
    const personErasures = withAll(theCase.personErasures ?? [], [scope.erasureId])
    const asked = personErasures === theCase.personErasures ? theCase : { ...theCase, personErasures }
    return keepErased(withoutOther(asked, scope.person), scope.person.email)
  }
  return eraseDetails(theCase, since => scope === 'all' || erasedAt(since) <= now, withoutPersonalData)
}

/** True if all customers that these details show are others, and they show one. */
function areOfOthers(others: readonly string[] | undefined, all: readonly (KnownDetails | undefined)[]): boolean {
  if (others === undefined) return false
  const ids = all.flatMap(details => details?.['customer.id']?.[0] ?? [])
  return ids.length > 0 && ids.every(id => others.includes(id))
}

/** The case in which the person is no other customer any more. */
function withoutOther(theCase: Case, { isShownBy }: PersonScope['person']): Case {
  const { otherCustomers, ...others } = theCase
  if (otherCustomers === undefined) return theCase
  const named = [...allDetailsOf(theCase)].filter(([details, , provider]) => isShownBy(details, provider))
  const left = otherCustomers.filter(id => !named.some(([details]) => details?.['customer.id']?.[0] === id))
  if (left.length === otherCustomers.length) return theCase
  return left.length === 0 ? others : { ...others, otherCustomers: left }
}

/**
 * Erases what a sighting or a merge brought into a case whose customer was erased. What names the team is kept: an erasure must not hide who
 * made a refund.
 * @param email the erased address, if it is known: in lower case
 */
export function keepErased(theCase: Case, email: string | null = null): Case {
  if (theCase.personErasures === undefined) return theCase
  const addresses = new Set(email === null ? [] : [email])
  for (const [details] of allDetailsOf(theCase)) {
    const shown = areOfOthers(theCase.otherCustomers, [details]) ? undefined : details?.['customer.email']?.[0]
    if (shown !== undefined) addresses.add(shown.trim().toLowerCase())
  }
  return eraseDetails(
    theCase,
    (_, shown) => !areOfOthers(theCase.otherCustomers, shown),
    details => withoutCustomer(details, addresses),
  )
}

type Strip = typeof withoutPersonalData

function eraseDetails(
  theCase: Case,
  isDue: (since: number, shown: readonly (KnownDetails | undefined)[]) => boolean,
  strip: Strip,
): Case {
  const eraseIn = (record: ActionRecord) => {
    const shown = [record, ...record.sides].map(({ details }) => details)
    return isDue(record.firstSeenAt, shown) ? eraseInRecord(record, strip) : record
  }
  const actions = mapChanged(theCase.actions, eraseIn)
  const merged = mapChanged(theCase.merged, known => {
    const record = eraseIn(known.record)
    return record === known.record ? known : { ...known, record }
  })
  const refundTotals = mapChanged(theCase.refundTotals, total =>
    isDue(total.observedAt, [total.details]) ? erase(total, strip) : total,
  )
  const subscriptions = mapChanged(theCase.subscriptions, row => {
    const snapshots = mapChanged(row.snapshots, snapshot =>
      isDue(snapshot.asOf, [row.details]) ? erase(snapshot, strip) : snapshot,
    )
    const shown = isDue(lastShownAt(row), [row.details]) ? erase(row, strip) : row
    return snapshots === row.snapshots ? shown : { ...shown, snapshots }
  })
  const isSame =
    actions === theCase.actions &&
    merged === theCase.merged &&
    refundTotals === theCase.refundTotals &&
    subscriptions === theCase.subscriptions
  return isSame ? theCase : { ...theCase, actions, merged, refundTotals, subscriptions }
}

/** The record without personal data. Returns the same record if it has none. */
export function eraseInRecord(record: ActionRecord, strip: Strip = withoutPersonalData): ActionRecord {
  const erased = erase(record, strip)
  if (erased.turn !== null || erased.sides.length === 0) return erased
  const sides = mapChanged(erased.sides, side => erase(side, strip))
  return sides === erased.sides ? erased : ({ ...erased, sides } as ActionRecord)
}

function erase<T extends ActionRecord | RefundTotal | SubscriptionRow | { readonly details?: KnownDetails }>(
  of: T,
  strip: Strip,
): T {
  const { details, ...rest } = of
  const stripped = strip(details)
  return stripped === details ? of : ({ ...rest, ...asDetails(stripped) } as T)
}
