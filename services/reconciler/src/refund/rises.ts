import type { CameBack } from '@backstop/providers'
import type { RefundTotal } from '../case/case.ts'
import type { Timed } from '../case/pairing.ts'

/** Fills one rise of a charge's total with the known refunds that may have caused it. */

/** The largest number of amounts for which all sums are tried, because n amounts have 2^n sums. */
const MAX_SUMMANDS = 10

/** A known refund of a charge. Its name is its identity. */
export interface KnownRefund extends Timed {
  /** Null if no provider states it. */
  readonly amount: number | null
  readonly idempotencyKey: string | null
  readonly requestId: string | null
  /** When its money came back; null if it did not. */
  readonly cameBack: CameBack | null
}

/** An amount that is included in the charge's total. */
interface Counted {
  readonly amount: number
  readonly cameBack: CameBack | null
  /** True if only totals prove it. */
  readonly isUnnamed: boolean
}

interface Link {
  readonly one: Counted
  readonly before: Link | undefined
}

/**
 * The amounts that a charge's total includes at one time. It is immutable: adding an amount returns a new object that
 * shares the older entries.
 */
export class Counting {
  static readonly NOTHING = new Counting(undefined, 0, Infinity, undefined)

  readonly #latest: Link | undefined
  readonly sum: number
  readonly #firstBackAt: number
  /** The latest amount that only totals prove; undefined if there is none. */
  readonly lastUnnamed: number | undefined

  private constructor(latest: Link | undefined, sum: number, firstBackAt: number, lastUnnamed: number | undefined) {
    this.#latest = latest
    this.sum = sum
    this.#firstBackAt = firstBackAt
    this.lastUnnamed = lastUnnamed
  }

  with(one: Counted): Counting {
    return new Counting(
      { one, before: this.#latest },
      this.sum + one.amount,
      Math.min(this.#firstBackAt, one.cameBack?.at ?? Infinity),
      one.isUnnamed ? one.amount : this.lastUnnamed,
    )
  }

  /** Without the amounts whose money came back before this time, by their events. */
  withoutThoseBack(before: number): Counting {
    if (this.#firstBackAt >= before) return this
    return countingOf(this.#all().filter(({ cameBack }) => (cameBack?.at ?? Infinity) >= before))
  }

  /**
   * Without this amount of money that came back, as a lower total shows. The refunds that most likely failed are
   * removed first.
   */
  without(amount: number): Counting {
    if (amount === 0) return this
    const all = this.#all()
    const likeliest = all.toSorted((a, b) => fallRank(a) - fallRank(b))
    const gone = pick(likeliest, amount, one => one.amount)
    if (sumOf(gone) === amount) return countingOf(all.filter(one => !gone.includes(one)))
    // No refunds have this sum, so a refund failed that was not reported.
    let left = amount
    const kept = likeliest.reverse().flatMap(one => {
      const taken = Math.min(left, one.amount)
      left -= taken
      return taken === one.amount ? [] : [{ ...one, amount: one.amount - taken }]
    })
    return countingOf(kept)
  }

  #all(): Counted[] {
    const all: Counted[] = []
    for (let link = this.#latest; link !== undefined; link = link.before) all.push(link.one)
    return all.reverse()
  }
}

function countingOf(all: readonly Counted[]): Counting {
  return all.reduce<Counting>((counting, one) => counting.with(one), Counting.NOTHING)
}

/** A refund, and how much of it counts in the total. */
export interface Filling {
  readonly refund: KnownRefund
  readonly amount: number
}

/** The refunds that may have caused the rise. */
export interface Fillers {
  /** The amount that was never captured and may have been released before. */
  readonly released: number
  /** The refund that caused the total, if it is certain. */
  readonly own: KnownRefund | undefined
  /** Refunds that may be older than the total's own change. */
  readonly before: readonly KnownRefund[]
  /** Refunds that were made at the time of the total. */
  readonly near: readonly KnownRefund[]
  /** Refunds that may be the total's own change, latest first. */
  readonly within: readonly KnownRefund[]
}

/** How a total follows from the amounts that were included before. */
export interface Fill {
  /** The amount that came back before the total. */
  readonly fallen: number
  /** The refunds, the released amount and the unknown amount between the last total and the change of this total. */
  readonly before: readonly Filling[]
  readonly released: number
  readonly openBefore: number
  /** The refunds and the unknown amount in the change of this total. */
  readonly within: readonly Filling[]
  readonly openWithin: number
}

/** Fills a rise so that the least amount is unknown, in as few unknown refunds as possible. */
export function fillRise(
  { total, totalBefore }: Pick<RefundTotal, 'total' | 'totalBefore'>,
  counting: Pick<Counting, 'sum' | 'lastUnnamed'>,
  fillers: Fillers,
): Fill {
  const { own, before, near, within } = fillers
  const counted = counting.sum
  if (totalBefore === null) return fillUnknownStart(total, counting, fillers)
  const room = Math.max(0, totalBefore - counted)
  const rise = Math.max(0, total - totalBefore)
  const fallen = Math.max(0, counted - totalBefore) + Math.max(0, totalBefore - total)
  /**
   * Fills the total's own change with the refunds in `first`, then the time before it with others, then the rest of the
   * change.
   */
  const plan = (first: readonly KnownRefund[]): Fill => {
    const isLeft = (refund: KnownRefund) => !first.includes(refund)
    const own = first.map(refund => filling(refund, refund.amount ?? rise))
    const earlier = fillWith(room, before.filter(isLeft))
    const released = Math.min(fillers.released, earlier.open)
    const left = within.filter(one => isLeft(one) && !earlier.fillings.some(({ refund }) => refund === one))
    const fillings = [...own, ...changeBy(left, rise - sumOf(own)).map(refund => filling(refund))]
    const open = rise - sumOf(fillings)
    // A refund of unknown amount from that time explains the rest.
    const rest = open === 0 ? undefined : left.find(({ amount }) => amount === null)
    return {
      fallen,
      before: earlier.fillings,
      released,
      openBefore: earlier.open - released,
      within: rest === undefined ? fillings : [...fillings, filling(rest, open)],
      openWithin: rest === undefined ? open : 0,
    }
  }
  /** Refunds that were made long before the total are its change only if they have exactly its amount. */
  const changeBy = (refunds: readonly KnownRefund[], amount: number): readonly KnownRefund[] => {
    const whole = pick(stated(refunds), amount, one => one.amount)
    if (sumOf(whole) === amount) return whole
    return pick(stated(refunds.filter(one => near.includes(one))), amount, one => one.amount)
  }
  if (own !== undefined) return plan([own])
  const asDated = simpler(plan(changeBy(near, rise)), plan([]))
  // If the times leave an amount unknown, the total may have been sent late.
  const asSent = plan(changeBy(within, rise))
  return openIn(asSent) < openIn(asDated) ? asSent : asDated
}

/** The total does not say from which amount it rose, so everything since the last total is one rise. */
function fillUnknownStart(
  total: number,
  { sum, lastUnnamed }: Pick<Counting, 'sum' | 'lastUnnamed'>,
  { own, before, within }: Fillers,
): Fill {
  const rise = total - sum
  const nothing = { before: [], released: 0, openBefore: 0 }
  const others = within.concat(before.filter(refund => !within.includes(refund)))
  if (rise <= 0 && own === undefined && others.length === 0 && lastUnnamed !== undefined) {
    // A refund was made, but the total is not higher: the unnamed refund came back and was made again.
    return { ...nothing, fallen: lastUnnamed - rise, within: [], openWithin: lastUnnamed }
  }
  const ownFillings = own === undefined ? [] : [filling(own)]
  const rest = rise - sumOf(ownFillings)
  const { fillings, open } = fillWith(Math.max(0, rest), others)
  return { ...nothing, fallen: Math.max(0, -rest), within: [...ownFillings, ...fillings], openWithin: open }
}

function openIn({ openBefore, openWithin }: Fill): number {
  return openBefore + openWithin
}

/** The fill with the smaller unknown amount, or else with fewer unknown refunds, or else the first. */
function simpler(a: Fill, b: Fill): Fill {
  const refunds = ({ openBefore, openWithin }: Fill) => Number(openBefore > 0) + Number(openWithin > 0)
  return openIn(b) < openIn(a) || (openIn(b) === openIn(a) && refunds(b) < refunds(a)) ? b : a
}

/** Fills the rise of a time span. If the refunds in it exceed the rise, money came back that nobody reported. */
function fillWith(rise: number, refunds: readonly KnownRefund[]): { fillings: readonly Filling[]; open: number } {
  const chosen = pick(stated(refunds), rise, one => one.amount)
  const fillings = chosen.map(refund => filling(refund))
  const open = rise - sumOf(fillings)
  const rest = open === 0 ? undefined : refunds.find(one => !chosen.some(other => other === one))
  return rest === undefined ? { fillings, open } : { fillings: [...fillings, filling(rest, open)], open: 0 }
}

/**
 * How likely an amount has come back, most likely first: it came back at an unknown time; only totals prove it; it came
 * back at a known time; it is not known to have come back.
 */
function fallRank({ cameBack, isUnnamed }: Counted): number {
  if (isUnnamed) return 1
  if (cameBack === null) return 3
  return cameBack.at === null ? 0 : 2
}

/** The items with the largest sum that does not exceed the target; of equal sums the first. */
function pick<T>(items: readonly T[], target: number, amountOf: (item: T) => number): readonly T[] {
  const fitting = items.filter(item => amountOf(item) <= target)
  if (fitting.reduce((sum, item) => sum + amountOf(item), 0) <= target) return fitting
  const exact = fitting.find(item => amountOf(item) === target)
  if (exact !== undefined) return [exact]
  const sums = new Map<number, readonly T[]>([[0, []]])
  for (const item of fitting.slice(0, MAX_SUMMANDS)) {
    for (const [sum, summands] of [...sums]) {
      const more = sum + amountOf(item)
      if (more <= target && !sums.has(more)) sums.set(more, [...summands, item])
    }
  }
  return sums.get(Math.max(...sums.keys())) ?? []
}

/** The refunds whose amount is known. */
export function stated(refunds: readonly KnownRefund[]): readonly (KnownRefund & { readonly amount: number })[] {
  return refunds.filter((refund): refund is KnownRefund & { readonly amount: number } => refund.amount !== null)
}

export function filling(refund: KnownRefund, amount = refund.amount ?? 0): Filling {
  return { refund, amount }
}

function sumOf(list: readonly { readonly amount: number }[]): number {
  return list.reduce((sum, { amount }) => sum + amount, 0)
}
