import { type ActionRecord, isProvisional, type ProvisionalRefund, type Side } from '../case/action-record.ts'
import type { Case, EvictedRecord } from '../case/case.ts'
import { linkedNames, namesOfCharge } from './payment-names.ts'
import { readTotals, type UnnamedRefund } from './refund-totals.ts'
import type { KnownRefund } from './rises.ts'

/** A charge as its totals and refunds show it, beside the provisional actions that are recorded of it. */

/** The one of the same amount that is nearest in time, or else the nearest. */
export function nearest<R extends ActionRecord>(
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

/** The refunds of a charge that only totals prove, and the provisional actions that stand for them. */
export interface ChargeReading {
  readonly records: ReadonlyMap<ProvisionalRefund, UnnamedRefund>
  /** They have no provisional action. */
  readonly unrecorded: readonly UnnamedRefund[]
  /** Provisional actions of money that known refunds account for. */
  readonly named: readonly ProvisionalRefund[]
  readonly refundsOf: () => ReadonlyMap<string, readonly string[]>
  readonly chargeId: string
}

interface Refund {
  readonly record: Pick<ActionRecord, 'objectIds' | 'currency'>
  readonly known: KnownRefund
}

/** A payment may have several charges: a refund that names its payment and another charge is not of this one. */
export function readCharges(theCase: Case, more: readonly Refund[] = []): readonly ChargeReading[] {
  if (theCase.refundTotals.length === 0) return []
  const links = linkedNames(theCase)
  const refunds = [...theCase.actions, ...theCase.evicted]
    .filter(one => one.kind === 'refund' && !('providerRef' in one && isProvisional(one)))
    .map((record): Refund => ({ record: ownSide(record), known: knownRecord(record) }))
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
      .filter(action => action.identity.startsWith(totalsOfCharge(identity)))
    return { ...matchRecords(provisional, unnamed), refundsOf, chargeId }
  })
}

/** What the name of every total of a charge begins with. */
export function totalsOfCharge(identity: string): string {
  return `${identity}/refunded/`
}

/**
 * Which provisional action stands for which unnamed refund: by the total that proves it. Where that total shows it no more,
 * another one that is new may: the action moves on with it, so that what people were told of it stays true.
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
  for (const refund of [...unrecorded].filter(isNew)) match(nearest([...named], refund.amount, refund.to), refund)
  return { records, unrecorded: [...unrecorded], named: [...named] }
}

/** Whether no look at it was set yet. */
function isNew(refund: UnnamedRefund): boolean {
  return refund.total.look?.doneAt !== null && !mayPredateConnection(refund)
}

/** What the provider of the charge says of the refund. */
export function ownSide<T extends ActionRecord | EvictedRecord>(record: T): T | Side {
  return record.sides.find(({ provider }) => provider === 'processor') ?? record
}

/** A record never changes, so it is read once. */
const KNOWN = new WeakMap<ActionRecord | EvictedRecord, KnownRefund>()

function knownRecord(record: ActionRecord | EvictedRecord): KnownRefund {
  const known = KNOWN.get(record)
  if (known !== undefined) return known
  const own = ownSide(record)
  const at = 'createdAt' in own ? own.createdAt : own.providerCreatedAt
  const refund = { ...knownRefund(own, at), name: record.identity }
  KNOWN.set(record, refund)
  return refund
}

type Shown = Pick<Side, 'identity' | 'amount' | 'state' | 'cameBack' | 'requestId'> & {
  readonly idempotencyKey?: string | null
}

export function knownRefund(shown: Shown, at: number): KnownRefund {
  const { identity, amount, state, requestId = null, idempotencyKey = null } = shown
  const isBack = state === 'failed' || state === 'canceled'
  const cameBack = isBack ? (shown.cameBack ?? { at: null, by: Infinity }) : null
  return { name: identity, at, amount, idempotencyKey, requestId, cameBack }
}

/**
 * Whether it may have been made before every connection that shows the total. A charge that was refunded in part before the
 * connection was made has such money in all of its totals, and nothing ever tells of it.
 */
export function mayPredateConnection({ key, from, total }: UnnamedRefund): boolean {
  const connectedAt = Math.min(...total.seenThrough.map(({ createdAt }) => createdAt))
  return key !== total.id && from !== null && Math.floor(from / 1000) < Math.floor(connectedAt / 1000)
}
