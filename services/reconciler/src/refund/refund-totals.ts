import type { RefundTotal } from '../case/case.ts'
import { byTime, compareText, nearestFirst, type Pair, pairUp } from '../case/pairing.ts'
import { Counting, type Filling, filling, fillRise, type KnownRefund, stated } from './rises.ts'

/**
 * Which refunds the totals of one charge prove. The totals are read in the provider's order, each with the total before it:
 * between two totals, and within each, the refunded amount rises or falls. The known refunds that count by that moment fill
 * a rise; the rest is a refund that nothing else shows. Derived anew from all facts, so the order of arrival does not matter.
 */

/** By the provider's clocks a refund and its total may be this far apart, in either order. */
const SKEW_MS = 2_000
/** A refund counts in its charge's total no later than this after it was made. */
const COUNTS_WITHIN_MS = 15 * 60_000

/** A refund that only totals prove: one for each rise that the known refunds do not fill. */
export interface UnnamedRefund {
  /** Unique among those of the charge. */
  readonly key: string
  /** The total that proves it. */
  readonly total: RefundTotal
  readonly amount: number
  /** It was made between these; `from` is null where nothing says. */
  readonly from: number | null
  readonly to: number
  readonly idempotencyKey: string | null
}

export interface ReadTotals {
  readonly unnamed: readonly UnnamedRefund[]
  /** The names of the refunds that each total is about, by the total's id. Totals that prove an unnamed one are left out. */
  readonly refundsOf: ReadonlyMap<string, readonly string[]>
}

/** @param totals of one charge */
export function readTotals(totals: readonly RefundTotal[], refunds: readonly KnownRefund[]): ReadTotals {
  const ordered = inOrder(totals)
  const own = ownRefunds(ordered, refunds)
  const taken = new Set(own.values())
  const unnamed: UnnamedRefund[] = []
  const refundsOf = new Map<string, readonly string[]>()
  const upcoming = refunds.toSorted(byTime).reverse()
  /** Made by now, and not counted yet. */
  let waiting: readonly KnownRefund[] = []
  const counting = new Counting()

  const count = (fillings: readonly Filling[]) => {
    if (fillings.length === 0) return
    const counted = new Set(fillings.map(({ refund }) => refund))
    waiting = waiting.filter(refund => !counted.has(refund))
    for (const { refund, amount } of fillings) counting.add({ amount, cameBack: refund.cameBack, isUnnamed: false })
  }
  const add = (refund: UnnamedRefund) => {
    if (refund.amount === 0) return
    unnamed.push(refund)
    counting.add({ amount: refund.amount, cameBack: null, isUnnamed: true })
  }

  ordered.forEach((total, index) => {
    const to = total.observedAt
    const isLate = ({ at }: KnownRefund) => at + COUNTS_WITHIN_MS < to
    counting.dropThoseBack(to - SKEW_MS)
    waiting = [...waiting, ...takeUntil(upcoming, to + SKEW_MS)].filter(
      ({ cameBack }) => cameBack === null || to - SKEW_MS <= cameBack.by,
    )
    count(stated(waiting.filter(refund => isLate(refund) && !taken.has(refund))).map(refund => filling(refund)))
    const free = waiting.filter(refund => !taken.has(refund))
    const within = free.filter(refund => !isLate(refund) && isOfRequest(total, refund) !== false).reverse()
    const fill = fillRise(total, counting, {
      released: index === 0 ? (total.uncaptured ?? 0) : 0,
      own: own.get(total),
      before: free.filter(({ at }) => at <= to),
      near: within.filter(({ at }) => to <= at + SKEW_MS),
      within,
    })
    counting.takeBack(fill.fallen)
    if (fill.released > 0) counting.add({ amount: fill.released, cameBack: null, isUnnamed: false })
    count([...fill.before, ...fill.within])
    const from = ordered[index - 1]?.observedAt ?? total.chargeCreatedAt ?? null
    add({ key: `${total.id}/before`, total, amount: fill.openBefore, from, to, idempotencyKey: null })
    add({ key: total.id, total, amount: fill.openWithin, from: to, to, idempotencyKey: total.idempotencyKey })
    const names = fill.within.map(({ refund }) => refund.name)
    if (fill.openBefore + fill.openWithin === 0) refundsOf.set(total.id, names)
  })
  return { unnamed, refundsOf }
}

/** Removes the refunds made until then from the end of the list, and returns them, the earliest first. */
function takeUntil(latestFirst: KnownRefund[], until: number): readonly KnownRefund[] {
  const first = latestFirst.findLastIndex(({ at }) => at > until)
  return latestFirst.splice(first + 1).reverse()
}

/** By the provider's time; of totals within the skew of its clocks, one that continues another comes after it. */
function inOrder(totals: readonly RefundTotal[]): readonly RefundTotal[] {
  const sorted = totals.toSorted((a, b) => a.observedAt - b.observedAt || a.total - b.total || compareText(a.id, b.id))
  for (let index = 1; index < sorted.length; index += 1) {
    const [a, b] = [sorted[index - 1] as RefundTotal, sorted[index] as RefundTotal]
    const continues = a.totalBefore !== null && a.totalBefore === b.total && b.totalBefore !== a.total
    if (continues && b.observedAt - a.observedAt <= SKEW_MS) sorted.splice(index - 1, 2, b, a)
  }
  return sorted
}

/** Whether one request made both the refund and the total; undefined where that is not said. */
function isOfRequest(total: RefundTotal, refund: KnownRefund): boolean | undefined {
  const { idempotencyKey, requestId = null } = total
  if (requestId !== null && refund.requestId !== null) return requestId === refund.requestId
  if (idempotencyKey === null || refund.idempotencyKey === null) return undefined
  return idempotencyKey === refund.idempotencyKey
}

interface OwnPair extends Pair<RefundTotal, KnownRefund> {
  readonly isSure: boolean
  readonly distanceMs: number
}

/** The refund that each total was sent for, where that is certain: by the request, or by amount and time. */
function ownRefunds(
  totals: readonly RefundTotal[],
  refunds: readonly KnownRefund[],
): ReadonlyMap<RefundTotal, KnownRefund> {
  const sorted = refunds.toSorted(byTime)
  const byAmount = Map.groupBy(sorted, ({ amount }) => amount)
  const byRequest = new Map<string, KnownRefund[]>()
  for (const refund of sorted) {
    for (const name of [refund.requestId, refund.idempotencyKey]) {
      if (name !== null) byRequest.set(name, [...(byRequest.get(name) ?? []), refund])
    }
  }
  const pairs = pairUp(
    totals,
    function* (total): Generator<OwnPair, void> {
      const { observedAt, totalBefore } = total
      const rise = totalBefore === null ? null : total.total - totalBefore
      for (const target of nearestFirst(ofSameRequest(total, byRequest), observedAt)) {
        const distanceMs = Math.abs(target.at - observedAt)
        const fits = rise === null || (target.amount ?? 0) <= rise
        if (fits && distanceMs <= COUNTS_WITHIN_MS) yield { seeker: total, target, isSure: true, distanceMs }
      }
      if (rise === null) return
      for (const target of nearestFirst(byAmount.get(rise) ?? [], observedAt)) {
        const distanceMs = Math.abs(target.at - observedAt)
        if (distanceMs > SKEW_MS) return
        if (isOfRequest(total, target) === undefined) yield { seeker: total, target, isSure: false, distanceMs }
      }
    },
    (a, b) =>
      Number(b.isSure) - Number(a.isSure) ||
      a.distanceMs - b.distanceMs ||
      compareText(a.seeker.id, b.seeker.id) ||
      compareText(a.target.name, b.target.name),
  )
  return new Map([...pairs].map(([total, { target }]) => [total, target]))
}

function ofSameRequest(
  total: RefundTotal,
  byRequest: ReadonlyMap<string, readonly KnownRefund[]>,
): readonly KnownRefund[] {
  const names = [total.requestId, total.idempotencyKey].filter(name => name != null)
  if (names.length === 0) return []
  const named = new Set(names.flatMap(name => byRequest.get(name) ?? []))
  return [...named].filter(refund => isOfRequest(total, refund) === true).sort(byTime)
}
