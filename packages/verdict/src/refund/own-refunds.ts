import type { RefundTotal } from '../case/case.ts'
import {
  compareText,
  IncrementalPairing,
  insertByTime,
  nearestFirst,
  type Pair,
  type Timed,
} from '../explain/pairing.ts'
import type { KnownRefund } from './rises.ts'

/**
 * The times of a refund and of its total may differ by this much, in either direction, because of the provider's
 * clocks.
 */
export const SKEW_MS = 2_000
/** A charge's total includes a refund at the latest this long after the refund was made. */
export const COUNTS_WITHIN_MS = 15 * 60_000

/** A total of a charge, at the time of its event. */
export interface TimedTotal extends Timed {
  readonly facts: TotalFacts
}

/** The fields of a total that relate it to refunds. */
export type TotalFacts = Pick<
  RefundTotal,
  'total' | 'totalBefore' | 'uncaptured' | 'chargeCreatedAt' | 'idempotencyKey' | 'requestId'
>

interface CausePair extends Pair<TimedTotal, KnownRefund> {
  /** True if one request made both the refund and the total. */
  readonly isSure: boolean
  readonly distanceMs: number
}

/** Finds the refund that caused each total of a charge, if it is certain by the request, or by amount and time. */
export class CausingRefunds {
  readonly #pairs = new IncrementalPairing<TimedTotal, KnownRefund, CausePair>(comparePairs)
  readonly #totals = new TimedIndex<TimedTotal>()
  readonly #refunds = new TimedIndex<KnownRefund>()

  causeOf(total: TimedTotal): KnownRefund | undefined {
    return this.#pairs.targetOf(total)
  }

  isCause(refund: KnownRefund): boolean {
    return this.#pairs.hasTarget(refund)
  }

  addTotal(total: TimedTotal): void {
    this.#totals.add(total, total.facts, riseOf(total.facts))
    this.#pairs.addSeeker(total, seeker =>
      candidatePairs(seeker, this.#refunds.findAlike(seeker.facts, riseOf(seeker.facts)), target =>
        pairOf(seeker, target),
      ),
    )
  }

  addRefund(refund: KnownRefund): void {
    this.#refunds.add(refund, refund, refund.amount)
    this.#pairs.addTarget(refund, target =>
      candidatePairs(target, this.#totals.findAlike(target, target.amount), seeker => pairOf(seeker, target)),
    )
  }
}

function riseOf({ total, totalBefore }: TotalFacts): number | null {
  return totalBefore === null ? null : total - totalBefore
}

/** True if one request made both the refund and the total; undefined if that is unknown. */
export function isFromSameRequest(
  { idempotencyKey, requestId = null }: TotalFacts,
  refund: KnownRefund,
): boolean | undefined {
  if (requestId !== null && refund.requestId !== null) return requestId === refund.requestId
  if (idempotencyKey === null || refund.idempotencyKey === null) return undefined
  return idempotencyKey === refund.idempotencyKey
}

/** @returns undefined if the refund is not known to have caused the total */
function pairOf(seeker: TimedTotal, target: KnownRefund): CausePair | undefined {
  const rise = riseOf(seeker.facts)
  const distanceMs = Math.abs(target.at - seeker.at)
  switch (isFromSameRequest(seeker.facts, target)) {
    case false:
      return undefined
    case true: {
      const fits = rise === null || (target.amount ?? 0) <= rise
      return fits && distanceMs <= COUNTS_WITHIN_MS ? { seeker, target, isSure: true, distanceMs } : undefined
    }
    default:
      return target.amount === rise && distanceMs <= SKEW_MS ? { seeker, target, isSure: false, distanceMs } : undefined
  }
}

function comparePairs(a: CausePair, b: CausePair): number {
  return (
    Number(b.isSure) - Number(a.isSure) ||
    a.distanceMs - b.distanceMs ||
    compareText(a.seeker.name, b.seeker.name) ||
    compareText(a.target.name, b.target.name)
  )
}

interface AlikeEntries<T> {
  readonly ofRequest: readonly T[]
  readonly ofAmount: readonly T[]
}

/** The possible pairs with these entries, best first. */
function* candidatePairs<T extends Timed>(
  { at }: Timed,
  { ofRequest, ofAmount }: AlikeEntries<T>,
  pairWith: (other: T) => CausePair | undefined,
): Generator<CausePair, void> {
  for (const other of nearestFirst(ofRequest, at)) {
    const pair = pairWith(other)
    if (pair?.isSure) yield pair
  }
  for (const other of nearestFirst(ofAmount, at)) {
    if (Math.abs(other.at - at) > SKEW_MS) return
    const pair = pairWith(other)
    if (pair?.isSure === false) yield pair
  }
}

type Request = Pick<TotalFacts, 'requestId' | 'idempotencyKey'>

/** Entries in order of time, indexed by the request that made them and by amount. */
class TimedIndex<T extends Timed> {
  readonly #byRequest = new Map<string, T[]>()
  readonly #byAmount = new Map<number, T[]>()

  add(entry: T, request: Request, amount: number | null): void {
    for (const name of namesOf(request)) insertSorted(this.#byRequest, name, entry)
    if (amount !== null) insertSorted(this.#byAmount, amount, entry)
  }

  findAlike(request: Request, amount: number | null): AlikeEntries<T> {
    const [first, second] = namesOf(request).map(name => this.#byRequest.get(name) ?? [])
    const ofAmount = amount === null ? [] : (this.#byAmount.get(amount) ?? [])
    if (first === undefined || second === undefined) return { ofRequest: first ?? [], ofAmount }
    const ofRequest = [...first]
    for (const entry of second) if (!first.includes(entry)) insertByTime(ofRequest, entry)
    return { ofRequest, ofAmount }
  }
}

function namesOf({ requestId, idempotencyKey }: Request): readonly string[] {
  const names = [requestId, idempotencyKey].filter(name => name != null)
  return names[0] === names[1] ? names.slice(0, 1) : names
}

function insertSorted<K, T extends Timed>(lists: Map<K, T[]>, key: K, entry: T): void {
  const known = lists.get(key)
  if (known === undefined) lists.set(key, [entry])
  else insertByTime(known, entry)
}
