import type { ObjectState, ProviderKind } from '@backstop/contracts'
import type { MadeTime, ObservedAction, ObservedRecord } from '@backstop/providers'
import type { ActionRecord, ObjectRecord, ProvisionalRefund, Side } from './action-record.ts'
import { type RefundTotal, withAll } from './case.ts'
import {
  addMissingDetails,
  asDetails,
  type KnownDetails,
  knownDetails,
  mergeDetails,
  originDetails,
  withoutOrigin,
} from './details.ts'

/** The data of the provider objects of an action, and the combined data that its record shows. */

/** If the states of an object have no version, they are ordered by this rank, not by arrival. */
const STATE_RANK: Record<ObjectState, number> = {
  pending: 0,
  requires_action: 1,
  scheduled: 1,
  succeeded: 2,
  failed: 3,
  canceled: 3,
  rejected: 3,
  reversed: 4,
}

/** The processor moves the money, so its data of a refund is shown before the data of the biller. */
const DISPLAY_ORDER: readonly ProviderKind[] = ['processor', 'reseller', 'subscription']

const DISPUTE: Pick<Side, 'isDispute'> = { isDispute: true }
const EXPIRED: Pick<Side, 'isExpiredAuthorization'> = { isExpiredAuthorization: true }
const RELEASED: Pick<Side, 'isReleasedAuthorization'> = { isReleasedAuthorization: true }

export function toSide(sighting: ObservedAction | ObservedRecord): Side {
  const { identity, provider, providerRef, subject, objectIds, amount, currency, state, stateVersion } = sighting
  return {
    identity,
    provider,
    providerRef,
    gatewayRefs: sighting.kind === 'action' ? sighting.gatewayRefs : [],
    ...creditNotesIn('creditNoteIds' in sighting ? (sighting.creditNoteIds ?? []) : []),
    subject,
    objectIds,
    amount,
    currency,
    state,
    stateVersion,
    createdAt: sighting.createdAt,
    ...(sighting.kind === 'action' ? rarelyStatedFields(sighting) : {}),
    ...(sighting.kind === 'record' && sighting.record === 'dispute' ? DISPUTE : {}),
    ...(sighting.kind === 'action' && sighting.isExpiredAuthorization ? EXPIRED : {}),
    ...(sighting.kind === 'action' && sighting.isReleasedAuthorization ? RELEASED : {}),
    ...asDetails(knownDetails(sighting.details, stateVersion ?? STATE_RANK[state], provider)),
  }
}

function creditNotesIn(creditNoteIds: readonly string[]): Pick<Side, 'creditNoteIds'> {
  return creditNoteIds.length === 0 ? {} : { creditNoteIds }
}

/** Merges two sightings of one object. The order of arrival does not matter. */
export function mergeSides(known: Side, seen: Side): Side {
  const [newer, older] = isNewer(seen, known) ? [seen, known] : [known, seen]
  return {
    ...newer,
    gatewayRefs: withAll(known.gatewayRefs, seen.gatewayRefs),
    ...creditNotesIn(withAll(known.creditNoteIds ?? [], seen.creditNoteIds ?? [])),
    // An event may lack the payment intent, which is the id that people know the payment by.
    subject: seen.objectIds.length > known.objectIds.length ? seen.subject : known.subject,
    objectIds: withAll(known.objectIds, seen.objectIds),
    amount: newer.amount ?? older.amount,
    currency: newer.currency ?? older.currency,
    createdAt: Math.min(known.createdAt, seen.createdAt),
    ...rarelyStatedFields(newer, older),
    ...(known.isDispute || seen.isDispute ? DISPUTE : {}),
    ...(known.isExpiredAuthorization || seen.isExpiredAuthorization ? EXPIRED : {}),
    ...(known.isReleasedAuthorization || seen.isReleasedAuthorization ? RELEASED : {}),
    ...asDetails(mergeDetails(known.details, seen.details)),
  }
}

/** Fields that only one event of an object may contain. */
function rarelyStatedFields(
  newer: Side | ObservedAction,
  older?: Side,
): Pick<Side, 'made' | 'cameBack' | 'requestId' | 'idempotencyKey'> {
  const made = older === undefined ? newer.made : mergeMadeTimes(newer, older)
  const cameBack = earlierReturn(newer.cameBack, older?.cameBack)
  const requestId = newer.requestId ?? older?.requestId
  const idempotencyKey = newer.idempotencyKey ?? older?.idempotencyKey
  return {
    ...(made === undefined ? {} : { made }),
    ...(cameBack === undefined ? {} : { cameBack }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }
}

/** The earliest event is the one that made the refund, and the refund existed at each of its changes. */
function mergeMadeTimes(newer: Side | ObservedAction, older: Side): Side['made'] {
  if (newer.made === undefined && older.made === undefined) return undefined
  const [a, b] = [knownMadeTime(newer), knownMadeTime(older)]
  const at = Math.min(a.at ?? Infinity, b.at ?? Infinity)
  const isDateChosen = a.isDateChosen ?? b.isDateChosen
  return {
    at: at === Infinity ? null : at,
    by: Math.min(a.by, b.by),
    ...(isDateChosen === undefined ? {} : { isDateChosen }),
  }
}

/** A side that an earlier version stored has only its date, which gave the verdict that people know. */
function knownMadeTime({ made, createdAt }: Side | ObservedAction): MadeTime {
  return made ?? { at: null, by: createdAt }
}

/** When the refund was made. A date that a person chose says nothing about that. */
function madeAt({ made, createdAt }: Side): number {
  return made?.isDateChosen === true ? (made.at ?? made.by) : createdAt
}

/**
 * The latest time at which a refund can have been made, by the object that says it best. An object that was dated before its
 * event, or before its first known change, may have been made as late as that.
 */
export function madeNotLaterThan({ sides, providerCreatedAt }: ActionRecord): number {
  if (sides.length === 0) return providerCreatedAt
  return Math.min(...sides.map(({ made, createdAt }) => Math.max(createdAt, made?.at ?? made?.by ?? createdAt)))
}

function earlierReturn(a: Side['cameBack'], b: Side['cameBack']): Side['cameBack'] {
  if (a === undefined || b === undefined) return a ?? b
  const at = Math.min(a.at ?? Infinity, b.at ?? Infinity)
  return { at: at === Infinity ? null : at, by: Math.min(a.by, b.by) }
}

/** Compares by the provider's version, or else by rank. States of the same rank are ordered by name. */
function isNewer(a: Side, b: Side): boolean {
  if (a.stateVersion !== null && b.stateVersion !== null && a.stateVersion !== b.stateVersion) {
    return a.stateVersion > b.stateVersion
  }
  return STATE_RANK[a.state] > STATE_RANK[b.state] || (STATE_RANK[a.state] === STATE_RANK[b.state] && a.state > b.state)
}

/** The record with these sides, and with the data that it shows of them. */
export function withSides(record: ObjectRecord, sides: readonly Side[]): ObjectRecord {
  const shown = { ...record, ...fieldsShownBySides(sides, record.kind) }
  const isRelease = record.isRelease === true || sides.some(isReleaseOfAuthorization)
  return isRelease ? asRelease(shown) : shown
}

function isReleaseOfAuthorization({ isExpiredAuthorization, isReleasedAuthorization }: Side): boolean {
  return isExpiredAuthorization === true || isReleasedAuthorization === true
}

/** The record of a refund that moved no money, because it released an authorization. */
export function asRelease<R extends ActionRecord>(record: R): R {
  return { ...record, isRelease: true, state: 'canceled' }
}

/**
 * The refund that replaces a provisional refund. Its data replaces the data that was estimated from the total, and its
 * origin that of the total, even if the refund states none: otherwise the origin would depend on which arrived first.
 */
export function replaceProvisionalRefund(record: ProvisionalRefund, side: Side): ObjectRecord {
  const { details, ...known } = record
  const shown = { ...fieldsShownBySides([side], 'refund'), ...asDetails(withoutOrigin(details)) }
  return withSides({ ...known, ...shown, identity: side.identity, madeFrom: null }, [side])
}

/** The data that a record shows of its sides. */
function fieldsShownBySides(sides: readonly Side[], kind: ObjectRecord['kind']) {
  const ordered = sides.toSorted(
    (a, b) =>
      DISPLAY_ORDER.indexOf(a.provider) - DISPLAY_ORDER.indexOf(b.provider) || (a.identity < b.identity ? -1 : 1),
  )
  const shown = ordered[0] as Side
  return {
    // A refund that another provider shows stays a refund, even if one side calls it a dispute.
    kind: ordered.every(side => side.isDispute) ? ('dispute' as const) : kind,
    sides: ordered,
    provider: shown.provider,
    subject: shown.subject,
    objectIds: ordered.reduce<readonly string[]>((all, side) => withAll(all, side.objectIds), []),
    providerRef: shown.providerRef,
    amount: shown.amount ?? ordered.find(side => side.amount !== null)?.amount ?? null,
    currency: shown.currency ?? ordered.find(side => side.currency !== null)?.currency ?? null,
    state: shown.state,
    providerCreatedAt: Math.min(...ordered.map(madeAt)),
  }
}

/**
 * The details of all objects of an action. The origin is that of one object: a biller makes its refunds through the
 * gateway, so the gateway's origin is only that of the biller.
 */
export function detailsOf({ sides, details }: ActionRecord): KnownDetails | undefined {
  if (sides.length === 1 && details === undefined) return sides[0]?.details
  const origin = sides.map(side => originDetails(side.details)).findLast(known => known !== undefined)
  const facts = sides.map(side => withoutOrigin(side.details)).reduce(addMissingDetails, origin)
  return addMissingDetails(facts, origin === undefined ? details : withoutOrigin(details))
}

/** The ids of the action's customer: a biller and its gateway have one each. */
export function customerIdsOf({ sides, details }: ActionRecord): readonly string[] {
  return [...sides.map(side => side.details), details].flatMap(known => known?.['customer.id']?.[0] ?? [])
}

/** Every id that a provider may use for the refund. */
export function refundIdsOf({ sides, providerRef }: ActionRecord): readonly string[] {
  if (sides.length === 0) return providerRef === null ? [] : [providerRef]
  return sides.flatMap(side =>
    side.gatewayRefs.length === 0 ? side.providerRef : [side.providerRef, ...side.gatewayRefs],
  )
}

/** Ids of the credit notes that a refund pays out. */
export function creditNoteIdsOf({ sides }: ActionRecord): readonly string[] {
  return sides.flatMap(side => side.creditNoteIds ?? [])
}

/** The account that has the object, if it is connected to the one which the connection reads. */
export function connectedAccountOf(seen: ActionRecord | RefundTotal, provider: ProviderKind): string | undefined {
  const { details } = sideOf(seen, provider) ?? seen
  return details?.account?.[0]
}

/** What one provider showed of it. */
export function sideOf(seen: ActionRecord | RefundTotal, provider: ProviderKind): Side | undefined {
  return 'sides' in seen ? seen.sides.find(side => side.provider === provider) : undefined
}
