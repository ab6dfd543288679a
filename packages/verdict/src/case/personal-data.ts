import { PERSONAL_DATA_DAYS } from '@backstop/contracts'
import type { ActionRecord } from './action-record.ts'
import { type Case, mapChanged, type RefundTotal, type SubscriptionRow } from './case.ts'
import { asDetails, hasPersonalData, type KnownDetails, withoutPersonalData } from './details.ts'

/**
 * The name and the e-mail address of a customer, and the user of a provider's dashboard. They are erased a fixed time
 * after an action was first seen, or earlier with the connection that showed them.
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
export function nextErasureAt({ actions, merged, refundTotals, subscriptions }: Case): number | undefined {
  let earliest = Infinity
  const note = (details: KnownDetails | undefined, since: number) => {
    if (hasPersonalData(details)) earliest = Math.min(earliest, erasedAt(since))
  }
  const noteRecord = ({ sides, details, firstSeenAt }: ActionRecord) => {
    note(details, firstSeenAt)
    for (const side of sides) note(side.details, firstSeenAt)
  }
  actions.forEach(noteRecord)
  for (const { record } of merged) noteRecord(record)
  for (const { details, observedAt } of refundTotals) note(details, observedAt)
  for (const row of subscriptions) {
    note(row.details, lastShownAt(row))
    for (const { details, asOf } of row.snapshots) note(details, asOf)
  }
  return earliest === Infinity ? undefined : earliest
}

/** A subscription shows its customer again with each change, so its newest state counts. */
function lastShownAt({ snapshots }: SubscriptionRow): number {
  return snapshots.at(-1)?.asOf ?? 0
}

/**
 * Erases personal data. Returns the same case if there is nothing to erase.
 * @param scope expired: only data whose time is over; all: the connection that showed it was deleted
 */
export function erasePersonalData(theCase: Case, scope: 'expired' | 'all', now: number): Case {
  const isDue = (since: number) => scope === 'all' || erasedAt(since) <= now
  const actions = mapChanged(theCase.actions, record => (isDue(record.firstSeenAt) ? eraseInRecord(record) : record))
  const merged = mapChanged(theCase.merged, known => {
    const record = isDue(known.record.firstSeenAt) ? eraseInRecord(known.record) : known.record
    return record === known.record ? known : { ...known, record }
  })
  const refundTotals = mapChanged(theCase.refundTotals, total => (isDue(total.observedAt) ? erase(total) : total))
  const subscriptions = mapChanged(theCase.subscriptions, row => {
    const snapshots = mapChanged(row.snapshots, snapshot => (isDue(snapshot.asOf) ? erase(snapshot) : snapshot))
    const shown = isDue(lastShownAt(row)) ? erase(row) : row
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
export function eraseInRecord(record: ActionRecord): ActionRecord {
  const erased = erase(record)
  if (erased.turn !== null || erased.sides.length === 0) return erased
  const sides = mapChanged(erased.sides, erase)
  return sides === erased.sides ? erased : ({ ...erased, sides } as ActionRecord)
}

function erase<T extends ActionRecord | RefundTotal | SubscriptionRow | { readonly details?: KnownDetails }>(of: T): T {
  const { details, ...rest } = of
  return hasPersonalData(details) ? ({ ...rest, ...asDetails(withoutPersonalData(details)) } as T) : of
}
