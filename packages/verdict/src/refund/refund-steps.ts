import { deterministicId, formatMoney } from '@backstop/contracts'
import type { ObservedAction, ObservedRefundTotal } from '@backstop/providers'
import { type ActionRecord, isProvisional, type ProvisionalRefund, UNJUDGED } from '../case/action-record.ts'
import {
  type Case,
  type RefundTotal,
  replaceAt,
  type SightingSource,
  withAll,
  withConnection,
  withMessages,
  withRecord,
} from '../case/case.ts'
import type { DecisionContext } from '../case/decision-context.ts'
import { asDetails, knownDetails, mergeDetails } from '../case/details.ts'
import { asRelease } from '../case/sides.ts'
import { addToTimeline, timelineEntry } from '../case/timeline.ts'
import { mergeRecords } from '../judge/same-action.ts'
import { recheckEntry } from '../show/outbox-entries.ts'
import {
  type ChargeRefunds,
  mayPredateConnection,
  nearestRecord,
  readCharges,
  toKnownRefund,
  totalIdPrefix,
} from './charge-refunds.ts'
import { addPaymentNames } from './payment-names.ts'
import type { UnnamedRefund } from './refund-totals.ts'

/**
 * Records the refunds that only a charge's totals prove (refund-totals.ts). Such a refund becomes a provisional action
 * at the second look at its total. If the refund itself is reported later, it replaces the provisional action and keeps
 * its id and its incident.
 */

/** A total that is the same as one this much older is a new one: a refund failed and was made again. */
const SAME_TOTAL_MS = 60_000

/** Adds or updates the total that an event reports. */
export function applyRefundTotal(theCase: Case, sighting: ObservedRefundTotal, source: SightingSource): Case {
  const refs = withAll(theCase.refs, sighting.refs)
  const index = theCase.refundTotals.findIndex(known => isSameTotal(known, sighting))
  const known = theCase.refundTotals[index]
  const { identity, total, totalBefore, observedAt } = sighting
  const entry: RefundTotal = {
    id: known?.id ?? `${totalIdPrefix(identity)}${totalBefore ?? ''}-${total}/${observedAt}`,
    identity,
    chargeId: sighting.chargeId,
    provider: sighting.provider,
    subject: sighting.subject,
    objectIds: sighting.objectIds,
    seenThrough: withConnection(known?.seenThrough ?? [], source.connection),
    total,
    totalBefore: known?.totalBefore ?? totalBefore,
    uncaptured: Math.max(known?.uncaptured ?? 0, sighting.uncaptured ?? 0),
    ...(known?.isReleasedAuthorization || sighting.isReleasedAuthorization ? { isReleasedAuthorization: true } : {}),
    currency: sighting.currency,
    chargeCreatedAt: known?.chargeCreatedAt ?? sighting.chargeCreatedAt ?? null,
    observedAt: Math.min(known?.observedAt ?? Infinity, observedAt),
    idempotencyKey: known?.idempotencyKey ?? sighting.idempotencyKey,
    requestId: known?.requestId ?? sighting.requestId ?? null,
    eventIds: source.eventId === null ? (known?.eventIds ?? []) : withAll(known?.eventIds ?? [], [source.eventId]),
    look: known?.look ?? null,
    ...asDetails(mergeDetails(known?.details, knownDetails(sighting.details, observedAt, sighting.provider))),
  }
  const refundTotals =
    known === undefined ? [...theCase.refundTotals, entry] : replaceAt(theCase.refundTotals, index, entry)
  return { ...theCase, refs, refundTotals }
}

/** True if both report the same change. A provider may send two events about one change. */
function isSameTotal(known: RefundTotal, sighting: ObservedRefundTotal): boolean {
  const agrees = <T>(a: T | null, b: T | null) => a === null || b === null || a === b
  return (
    known.identity === sighting.identity &&
    known.total === sighting.total &&
    Math.abs(known.observedAt - sighting.observedAt) <= SAME_TOTAL_MS &&
    agrees(known.totalBefore, sighting.totalBefore) &&
    agrees(known.idempotencyKey, sighting.idempotencyKey) &&
    agrees(known.requestId ?? null, sighting.requestId ?? null)
  )
}

/** The index of the provisional action that a reported refund replaces, or -1. */
export function indexOfProvisional(theCase: Case, sighting: ObservedAction): number {
  if (!theCase.actions.some(isProvisional)) return -1
  const more = [{ record: sighting, known: toKnownRefund(sighting, sighting.createdAt) }]
  const named = readCharges(theCase, more).flatMap(({ named }) => named)
  return theCase.actions.indexOf(nearestRecord(named, sighting.amount, sighting.createdAt) as ActionRecord)
}

/** The totals whose refunds all have one of these identities. */
export function totalsOfRefunds(theCase: Case, identities: ReadonlySet<string>): ReadonlySet<string> {
  const refundsOf = readCharges(theCase).flatMap(charge => [...charge.refundsOf()])
  const isOfThese = (names: readonly string[]) => names.length > 0 && names.every(name => identities.has(name))
  return new Set(refundsOf.filter(([, names]) => isOfThese(names)).map(([id]) => id))
}

/** Updates the provisional actions from the totals, and schedules a second look at each total that needs one. */
export function updateProvisionalRefunds(theCase: Case, context: DecisionContext): Case {
  const { now } = context
  const charges = readCharges(theCase)
  const restated = charges
    .flatMap(({ records }) => [...records])
    .reduce((next, [record, refund]) => updateProvisionalRefund(next, record, refund, now), theCase)
  const joined = charges
    .flatMap(({ named, chargeId }) => named.map(record => ({ record, chargeId })))
    .reduce((next, { record, chargeId }) => mergeIntoKnownRefund(next, record, chargeId, now), restated)
  return scheduleTotalLooks(joined, new Set(charges.flatMap(totalsNeedingLook)), context)
}

/** Ids of the totals that prove a refund without a record. */
function totalsNeedingLook({ unrecorded }: ChargeRefunds): readonly string[] {
  return unrecorded.filter(refund => !mayPredateConnection(refund)).map(({ total }) => total.id)
}

function scheduleTotalLooks(
  theCase: Case,
  totalIds: ReadonlySet<string>,
  { now, recheckDelayMs }: DecisionContext,
): Case {
  const dueAt = now + recheckDelayMs
  const armed = theCase.refundTotals.filter(({ id, look }) => totalIds.has(id) && look?.doneAt !== null)
  if (armed.length === 0) return theCase
  const refundTotals = theCase.refundTotals.map(total =>
    armed.includes(total) ? { ...total, look: { dueAt, askedAt: null, doneAt: null } } : total,
  )
  const requests = armed.map(({ id }) => recheckEntry(theCase, id, dueAt, now))
  return withMessages({ ...theCase, refundTotals }, ...requests)
}

/** The second look at a total: each refund that only this total proves becomes a provisional action. */
export function applyTotalLook(theCase: Case, totalId: string, now: number): Case {
  const index = theCase.refundTotals.findIndex(total => total.id === totalId)
  const total = theCase.refundTotals[index]
  if (total === undefined || total.look === null || total.look.doneAt !== null) return theCase
  const done = { ...total, look: { ...total.look, doneAt: now } }
  const looked = { ...theCase, refundTotals: replaceAt(theCase.refundTotals, index, done) }
  const recorded = readCharges(looked)
    .flatMap(({ unrecorded }) => unrecorded)
    .filter(refund => refund.total.id === totalId && !mayPredateConnection(refund))
    .reduce<Case>((next, refund) => withRecord(next, provisionalAction(next, refund, now)), looked)
  return addPaymentNames(recorded)
}

/**
 * An id that no action has. A refund that replaced a provisional action keeps that action's id, so the next provisional
 * action needs another one.
 */
function freeActionId(theCase: Case, key: string): string {
  const taken = new Set(theCase.actions.map(action => action.id))
  for (const { record } of theCase.merged) taken.add(record.id)
  let id = deterministicId('action', key)
  for (let count = 2; taken.has(id); count += 1) id = deterministicId('action', key, String(count))
  return id
}

function provisionalAction(theCase: Case, refund: UnnamedRefund, now: number): ProvisionalRefund {
  const { total, key, amount } = refund
  const text = `The charge shows ${formatMoney(amount, total.currency)} more refunded than the known refunds`
  const record: ProvisionalRefund = {
    id: freeActionId(theCase, key),
    kind: 'refund',
    sides: [],
    turn: null,
    provider: total.provider,
    subject: total.subject,
    objectIds: total.objectIds,
    providerRef: null,
    currency: total.currency,
    state: 'succeeded',
    firstSeenAt: now,
    ...UNJUDGED,
    ...factsOfRefund(refund),
    seenThrough: total.seenThrough,
    eventIds: total.eventIds,
    ...asDetails(total.details),
    look: total.look,
    timeline: [timelineEntry(now, 'event_received', total.eventIds[0] ?? null, text)],
  }
  return total.isReleasedAuthorization ? asRelease(record) : record
}

/** The data of a refund that only totals prove. */
function factsOfRefund({ key, amount, from, to, idempotencyKey, requestId }: UnnamedRefund) {
  return {
    identity: key,
    amount,
    madeFrom: from ?? 0,
    providerCreatedAt: to,
    idempotencyKeys: idempotencyKey === null ? [] : [idempotencyKey],
    requestIds: requestId === null ? undefined : [requestId],
  }
}

/** Updates a provisional action from the totals. */
function updateProvisionalRefund(theCase: Case, record: ProvisionalRefund, refund: UnnamedRefund, now: number): Case {
  const { total } = refund
  const shown = factsOfRefund(refund)
  const seenThrough = total.seenThrough.reduce(withConnection, record.seenThrough)
  const eventIds = withAll(record.eventIds, total.eventIds)
  const details = mergeDetails(record.details, total.details)
  const isSame =
    record.identity === shown.identity &&
    record.amount === shown.amount &&
    record.madeFrom === shown.madeFrom &&
    record.providerCreatedAt === shown.providerCreatedAt &&
    record.idempotencyKeys.join() === shown.idempotencyKeys.join() &&
    record.requestIds?.join() === shown.requestIds?.join() &&
    record.seenThrough === seenThrough &&
    record.eventIds === eventIds &&
    record.details === details
  if (isSame) return theCase
  const restated = { ...record, ...shown, seenThrough, eventIds, ...asDetails(details) }
  if (record.amount === shown.amount) return withRecord(theCase, restated)
  const text = `Beyond the refunds known by now, the charge shows ${formatMoney(shown.amount, total.currency)} refunded`
  return withRecord(
    theCase,
    addToTimeline(restated, timelineEntry(now, 'event_received', total.eventIds[0] ?? null, text)),
  )
}

/** Merges a provisional action into the known refund that accounts for its money. */
function mergeIntoKnownRefund(theCase: Case, record: ActionRecord, chargeId: string, now: number): Case {
  const refunds = theCase.actions.filter(
    action => action.kind === 'refund' && !isProvisional(action) && action.objectIds.includes(chargeId),
  )
  const refund = nearestRecord(refunds, record.amount, record.providerCreatedAt)
  return refund === undefined ? theCase : mergeRecords(theCase, refund, record, now)
}
