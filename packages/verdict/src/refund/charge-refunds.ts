import { type ActionRecord, isProvisional, type ProvisionalRefund, type Side } from '../case/action-record.ts'
import type { Case, EvictedRecord } from '../case/case.ts'
import { linkedNames, namesOfCharge } from './payment-names.ts'
import { readTotals, type UnnamedRefund } from './refund-totals.ts'
import type { KnownRefund } from './rises.ts'

/** Reads the totals and refunds of a charge, and matches them with its provisional actions. */

/** The nearest record in time with the same amount, or else the nearest record. */
export function nearestRecord<R extends ActionRecord>(
  records: readonly R[],
  amount: number | null,
  at: number,
): R | undefined {
  const distance = (record: ActionRecord) => Math.abs(record.providerCreatedAt - at)
  const [first] = records.toSorted(
    (a, b) =>
      Number(b.amount === amount) - Number(a.amount === amount) || distance(a) - distance(b) || (a.id < b.id ? -1 : 1),
  )
  return first
}

/** The refunds of a charge that only totals prove, and their provisional actions. */
export interface ChargeRefunds {
  readonly records: ReadonlyMap<ProvisionalRefund, UnnamedRefund>
  readonly unrecorded: readonly UnnamedRefund[]
  /** Provisional actions whose money belongs to known refunds. */
  readonly named: readonly ProvisionalRefund[]
  readonly refundsOf: () => ReadonlyMap<string, readonly string[]>
  readonly chargeId: string
}

interface Refund {
  readonly record: Pick<ActionRecord, 'objectIds' | 'currency'>
  readonly known: KnownRefund
}

/**
 * Reads each charge of a case. A payment may have several charges, so a refund that names another charge is left out.
 */
export function readCharges(theCase: Case, more: readonly Refund[] = []): readonly ChargeRefunds[] {
  if (theCase.refundTotals.length === 0) return []
  const links = linkedNames(theCase)
  const refunds = [...theCase.actions, ...theCase.evicted]
    .filter(record => record.kind === 'refund' && !('providerRef' in record && isProvisional(record)))
    .map((record): Refund => ({ record: processorSide(record), known: cachedKnownRefund(record) }))
    .concat(more)
    .map(({ record, known }) => ({ names: namesOfCharge(record.objectIds, links), currency: record.currency, known }))
  const charges = Map.groupBy(theCase.refundTotals, ({ identity }) => identity)
  return [...charges].map(([identity, totals]) => {
    const { chargeId = '', currency } = totals[0] ?? {}
    const known = refunds.filter(refund => refund.names.includes(chargeId) && refund.currency === currency)
    const { unnamed, refundsOf } = readTotals(
      totals,
      known.map(refund => refund.known),
    )
    const provisional = theCase.actions
      .filter(isProvisional)
      .filter(action => action.identity.startsWith(totalIdPrefix(identity)))
    return { ...matchRecords(provisional, unnamed), refundsOf, chargeId }
  })
}

/** The prefix of the ids of all totals of a charge. */
export function totalIdPrefix(identity: string): string {
  return `${identity}/refunded/`
}

/**
 * Matches provisional actions with unnamed refunds by the total that proves them. If that total no longer proves the
 * refund, the action is moved to a new unnamed refund, so that its alert stays correct.
 */
function matchRecords(provisional: readonly ProvisionalRefund[], unnamed: readonly UnnamedRefund[]) {
  const byKey = new Map(provisional.map(record => [record.identity, record]))
  const records = new Map<ProvisionalRefund, UnnamedRefund>()
  const named = new Set(provisional)
  const unrecorded = new Set(unnamed)
  const match = (record: ProvisionalRefund | undefined, refund: UnnamedRefund) => {
    if (record === undefined) return
    records.set(record, refund)
    named.delete(record)
    unrecorded.delete(refund)
  }
  for (const refund of unnamed) match(byKey.get(refund.key), refund)
  for (const refund of [...unrecorded].filter(hasNoLook))
    match(nearestRecord([...named], refund.amount, refund.to), refund)
  return { records, unrecorded: [...unrecorded], named: [...named] }
}

/** True if no second look at the refund's total is scheduled yet. */
function hasNoLook(refund: UnnamedRefund): boolean {
  return refund.total.look?.doneAt !== null && !mayPredateConnection(refund)
}

/** The processor's data of the refund. */
export function processorSide<T extends ActionRecord | EvictedRecord>(record: T): T | Side {
  return record.sides.find(({ provider }) => provider === 'processor') ?? record
}

/** Cache: records are immutable, so each is converted once. */
const KNOWN_REFUNDS = new WeakMap<ActionRecord | EvictedRecord, KnownRefund>()

function cachedKnownRefund(record: ActionRecord | EvictedRecord): KnownRefund {
  const known = KNOWN_REFUNDS.get(record)
  if (known !== undefined) return known
  const own = processorSide(record)
  const at = 'createdAt' in own ? own.createdAt : own.providerCreatedAt
  const refund = { ...toKnownRefund(own, at), name: record.identity }
  KNOWN_REFUNDS.set(record, refund)
  return refund
}

type RefundData = Pick<Side, 'identity' | 'amount' | 'state' | 'cameBack' | 'requestId'> & {
  readonly idempotencyKey?: string | null
}

export function toKnownRefund(shown: RefundData, at: number): KnownRefund {
  const { identity, amount, state, requestId = null, idempotencyKey = null } = shown
  const isBack = state === 'failed' || state === 'canceled'
  const cameBack = isBack ? (shown.cameBack ?? { at: null, by: Infinity }) : null
  return { name: identity, at, amount, idempotencyKey, requestId, cameBack }
}

/**
 * True if the refund may be older than every connection that shows the total. If a charge was partly refunded before
 * the connection was made, all its totals contain that money, and no event ever explains it.
 */
export function mayPredateConnection({ key, from, total }: UnnamedRefund): boolean {
  const connectedAt = Math.min(...total.seenThrough.map(({ createdAt }) => createdAt))
  return key !== total.id && from !== null && Math.floor(from / 1000) < Math.floor(connectedAt / 1000)
}
