import type { RefundTotal } from '../case/case.ts'
import { byTime, compareText } from '../explain/pairing.ts'
import { CausingRefunds, COUNTS_WITHIN_MS, isFromSameRequest, SKEW_MS, type TimedTotal } from './own-refunds.ts'
import {
  CountedAmounts,
  contribution,
  fillRise,
  type KnownRefund,
  type RiseContribution,
  withKnownAmount,
} from './rises.ts'

/**
 * Finds the refunds that the totals of one charge prove. The totals are read in the provider's order, each with the
 * total before it. The refunded amount rises or falls between two totals and within each. Known refunds of that time
 * fill a rise, and the rest is an unnamed refund. The result does not depend on the order of arrival.
 */

/** A refund that only totals prove: the part of a rise that known refunds do not fill. */
export interface UnnamedRefund {
  /** Unique within the charge. */
  readonly key: string
  /** The total that proves it. */
  readonly total: RefundTotal
  readonly amount: number
  /** The refund was made between `from` and `to`; `from` is null if unknown. */
  readonly from: number | null
  readonly to: number
  readonly idempotencyKey: string | null
  readonly requestId: string | null
}

export interface ReadTotals {
  readonly unnamed: readonly UnnamedRefund[]
  /** The names of the refunds of each total, by the total's id. Totals that prove an unnamed refund are left out. */
  readonly refundsOf: () => ReadonlyMap<string, readonly string[]>
}

/**
 * The reader of each charge, by the charge's totals. In a flood of events one charge is read thousands of times with
 * few changes, so its reader is kept. No result depends on this cache: a reader that does not fit is replaced.
 */
const READERS = new WeakMap<RefundTotal, ChargeReader>()

/** @param totals of one charge */
export function readTotals(totals: readonly RefundTotal[], refunds: readonly KnownRefund[]): ReadTotals {
  const read = totals.find(total => READERS.has(total))
  const last = read === undefined ? undefined : READERS.get(read)
  const reader = last?.update(totals, refunds) === true ? last : createReader(totals, refunds)
  for (const total of totals) if (READERS.get(total) !== reader) READERS.set(total, reader)
  return reader.read()
}

function createReader(totals: readonly RefundTotal[], refunds: readonly KnownRefund[]): ChargeReader {
  const reader = new ChargeReader()
  reader.update(totals, refunds)
  return reader
}

interface ReadTotal extends TimedTotal {
  /** The current record of the total. A second look or a further event replaces it. */
  record: RefundTotal
}

/** The state after one total of a charge. */
interface TotalReading {
  readonly total: ReadTotal
  readonly own: KnownRefund | undefined
  /** The number of refunds made until this total. */
  readonly made: number
  /** The refunds of these that do not count yet. */
  readonly waiting: readonly KnownRefund[]
  readonly counting: CountedAmounts
  readonly unnamed: readonly Omit<UnnamedRefund, 'total'>[]
  /** The refunds of this total; null if it proves an unnamed one. */
  readonly names: readonly string[] | null
}

/** Reads the totals of one charge. After new facts it continues at the first total whose reading they may change. */
class ChargeReader {
  #totals: readonly ReadTotal[] = []
  /** By name, with the number of the last update that contained it. */
  readonly #refunds = new Map<string, { readonly refund: KnownRefund; update: number }>()
  #updates = 0
  readonly #own = new CausingRefunds()
  #ordered: readonly ReadTotal[] = []
  /** In order of time. `#isOwn` is true for a refund that caused a total. */
  #made: readonly KnownRefund[] = []
  #isOwn: readonly boolean[] = []
  #readings: readonly TotalReading[] = []

  /** @returns false, and reads nothing, if a known total or refund is missing or has changed */
  update(totals: readonly RefundTotal[], refunds: readonly KnownRefund[]): boolean {
    if (totals.length < this.#totals.length) return false
    for (const [index, total] of this.#totals.entries()) {
      const current = totals[index] as RefundTotal
      if (current === total.record) continue
      if (!hasSameFacts(current, total.record)) return false
      total.record = current
    }
    const moreTotals = totals.slice(this.#totals.length).map(toReadTotal)
    this.#updates += 1
    const moreRefunds = refunds.filter(refund => !this.#isKnownUnchanged(refund))
    if (this.#made.length + moreRefunds.length !== refunds.length) return false
    if (moreTotals.length + moreRefunds.length > 0) this.#addFacts(moreTotals, moreRefunds)
    return true
  }

  /** True if the refund is known and unchanged. A second refund with the same name in one update counts as unknown. */
  #isKnownUnchanged(refund: KnownRefund): boolean {
    const known = this.#refunds.get(refund.name)
    if (known === undefined || known.update === this.#updates || !isUnchangedRefund(known.refund, refund)) return false
    known.update = this.#updates
    return true
  }

  #addFacts(totals: readonly ReadTotal[], refunds: readonly KnownRefund[]): void {
    for (const refund of refunds) {
      this.#refunds.set(refund.name, { refund, update: this.#updates })
      this.#own.addRefund(refund)
    }
    for (const total of totals) this.#own.addTotal(total)
    this.#totals = [...this.#totals, ...totals]
    this.#ordered = sortTotals(this.#totals)
    const made = [...this.#made, ...refunds].sort(byTime)
    const isOwn = made.map(refund => this.#own.isCause(refund))
    const other = made.findIndex((refund, index) => refund !== this.#made[index] || isOwn[index] !== this.#isOwn[index])
    this.#made = made
    this.#isOwn = isOwn
    this.#continueReading(this.#readingsBefore(other < 0 ? made.length : other))
  }

  /**
   * The readings that the new facts do not change.
   * @param firstOther the index of the earliest refund that is new, or whose `#isOwn` has changed
   */
  #readingsBefore(firstOther: number): TotalReading[] {
    const otherAt = this.#made[firstOther]?.at ?? Infinity
    const end = this.#readings.findIndex(
      ({ total, own }, index) =>
        total !== this.#ordered[index] || own !== this.#own.causeOf(total) || otherAt <= total.at + SKEW_MS,
    )
    return end < 0 ? [...this.#readings] : this.#readings.slice(0, end)
  }

  #continueReading(readings: TotalReading[]): void {
    for (const total of this.#ordered.slice(readings.length)) readings.push(this.#readNext(readings.at(-1), total))
    this.#readings = readings
  }

  #readNext(last: TotalReading | undefined, total: ReadTotal): TotalReading {
    const { at: to, facts } = total
    const own = this.#own.causeOf(total)
    const isOwn = (refund: KnownRefund) => this.#own.isCause(refund)
    const isLate = ({ at }: KnownRefund) => at + COUNTS_WITHIN_MS < to
    const made = this.#countMadeUntil(to + SKEW_MS, last?.made ?? 0)
    let waiting = [...(last?.waiting ?? []), ...this.#made.slice(last?.made ?? 0, made)].filter(
      ({ cameBack }) => cameBack === null || to - SKEW_MS <= cameBack.by,
    )
    let counting = (last?.counting ?? CountedAmounts.NOTHING).withoutReturned(to - SKEW_MS)
    const count = (fillings: readonly RiseContribution[]) => {
      if (fillings.length === 0) return
      const counted = new Set(fillings.map(({ refund }) => refund))
      waiting = waiting.filter(refund => !counted.has(refund))
      for (const { refund, amount } of fillings) {
        counting = counting.withAmount({ amount, cameBack: refund.cameBack, isUnnamed: false })
      }
    }
    count(
      withKnownAmount(waiting.filter(refund => isLate(refund) && !isOwn(refund))).map(refund => contribution(refund)),
    )
    const free = waiting.filter(refund => !isOwn(refund))
    const within = free.filter(refund => !isLate(refund) && isFromSameRequest(facts, refund) !== false).reverse()
    const fill = fillRise(facts, counting, {
      released: last === undefined ? (facts.uncaptured ?? 0) : 0,
      own,
      before: free.filter(({ at }) => at <= to),
      near: within.filter(({ at }) => to <= at + SKEW_MS),
      within,
    })
    counting = counting.withoutAmount(fill.fallen)
    if (fill.released > 0) counting = counting.withAmount({ amount: fill.released, cameBack: null, isUnnamed: false })
    count([...fill.before, ...fill.within])
    const from = last?.total.at ?? facts.chargeCreatedAt ?? null
    const { idempotencyKey, requestId = null } = facts
    const isOfNothing = own === undefined && fill.within.length === 0 && isRefundOfNothing(total.record, last)
    const unnamed = [
      { key: `${total.name}/before`, amount: fill.openBefore, from, to, idempotencyKey: null, requestId: null },
      { key: total.name, amount: fill.openWithin, from: to, to, idempotencyKey, requestId },
    ].filter(({ amount, key }) => amount !== 0 || (isOfNothing && key === total.name))
    for (const { amount } of unnamed) {
      if (amount !== 0) counting = counting.withAmount({ amount, cameBack: null, isUnnamed: true })
    }
    const names = unnamed.length > 0 ? null : fill.within.map(({ refund }) => refund.name)
    return { total, own, made, waiting, counting, unnamed, names }
  }

  #countMadeUntil(until: number, since: number): number {
    let count = since
    while ((this.#made[count]?.at ?? Infinity) <= until) count += 1
    return count
  }

  read(): ReadTotals {
    const readings = this.#readings
    return {
      unnamed: readings.flatMap(({ total: { record }, unnamed }) =>
        unnamed.map(refund => ({ ...refund, total: record })),
      ),
      refundsOf: () =>
        new Map(readings.flatMap(({ total, names }) => (names === null ? [] : [[total.name, names] as const]))),
    }
  }
}

/**
 * True if an event reports a refund, and the total does not rise: a refund of amount 0. A total that was read reports
 * no refund.
 */
function isRefundOfNothing({ eventIds, total, totalBefore }: RefundTotal, last: TotalReading | undefined): boolean {
  if (eventIds.length === 0) return false
  return totalBefore === null ? total === 0 && last === undefined : total === totalBefore
}

function toReadTotal(record: RefundTotal): ReadTotal {
  return { at: record.observedAt, name: record.id, facts: record, record }
}

function hasSameFacts(a: RefundTotal, b: RefundTotal): boolean {
  return (
    a.id === b.id &&
    a.total === b.total &&
    a.totalBefore === b.totalBefore &&
    a.eventIds.length > 0 === b.eventIds.length > 0 &&
    a.observedAt === b.observedAt &&
    a.requestId === b.requestId &&
    a.idempotencyKey === b.idempotencyKey &&
    a.uncaptured === b.uncaptured &&
    a.chargeCreatedAt === b.chargeCreatedAt
  )
}

function isUnchangedRefund(a: KnownRefund, b: KnownRefund): boolean {
  if (a === b) return true
  return (
    a.at === b.at &&
    a.amount === b.amount &&
    a.requestId === b.requestId &&
    a.idempotencyKey === b.idempotencyKey &&
    a.cameBack?.at === b.cameBack?.at &&
    a.cameBack?.by === b.cameBack?.by
  )
}

/**
 * Sorts by the provider's time. If two times differ by no more than the clock skew, and one total begins at the amount at
 * which the other ends, the beginning decides the order.
 */
function sortTotals(totals: readonly ReadTotal[]): readonly ReadTotal[] {
  const sorted = totals.toSorted((a, b) => a.at - b.at || a.facts.total - b.facts.total || compareText(a.name, b.name))
  for (let index = 1; index < sorted.length; index += 1) {
    const [a, b] = [sorted[index - 1] as ReadTotal, sorted[index] as ReadTotal]
    const { total, totalBefore } = a.facts
    const continues = totalBefore !== null && totalBefore === b.facts.total && b.facts.totalBefore !== total
    if (continues && b.at - a.at <= SKEW_MS) sorted.splice(index - 1, 2, b, a)
  }
  return sorted
}
