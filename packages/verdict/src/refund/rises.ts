import type { CameBack } from '@backstop/providers'
import type { RefundTotal } from '../case/case.ts'
import type { Timed } from '../explain/pairing.ts'

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
interface CountedAmount {
  readonly amount: number
  readonly cameBack: CameBack | null
  /** True if only totals prove it. */
  readonly isUnnamed: boolean
}

interface Link {
  readonly counted: CountedAmount
  readonly before: Link | undefined
}

/**
 * The amounts that a charge's total includes at one time. It is immutable: adding an amount returns a new object that
 * shares the older entries.
 */
export class CountedAmounts {
  static readonly NOTHING = new CountedAmounts(undefined, 0, Infinity, undefined)

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

  withAmount(counted: CountedAmount): CountedAmounts {
    return new CountedAmounts(
      { counted, before: this.#latest },
      this.sum + counted.amount,
      Math.min(this.#firstBackAt, counted.cameBack?.at ?? Infinity),
      counted.isUnnamed ? counted.amount : this.lastUnnamed,
    )
  }

  /** Returns the amounts without those whose money came back before this time, by their events. */
  withoutReturned(before: number): CountedAmounts {
    if (this.#firstBackAt >= before) return this
    return countedAmountsOf(this.#all().filter(({ cameBack }) => (cameBack?.at ?? Infinity) >= before))
  }

  /**
   * Returns the amounts after this much money came back, as a lower total shows. The refunds that most likely failed are
   * removed first.
   */
  withoutAmount(amount: number): CountedAmounts {
    if (amount === 0) return this
    const all = this.#all()
    const likeliest = all.toSorted((a, b) => moneyReturnRank(a) - moneyReturnRank(b))
    const returned = pickSummands(likeliest, amount, counted => counted.amount)
    if (sumOf(returned) === amount) return countedAmountsOf(all.filter(counted => !returned.includes(counted)))
    // No refunds have this sum, so a refund failed that was not reported.
    let left = amount
    const kept = likeliest.reverse().flatMap(counted => {
      const taken = Math.min(left, counted.amount)
      left -= taken
      return taken === counted.amount ? [] : [{ ...counted, amount: counted.amount - taken }]
    })
    return countedAmountsOf(kept)
  }

  #all(): CountedAmount[] {
    const all: CountedAmount[] = []
    for (let link = this.#latest; link !== undefined; link = link.before) all.push(link.counted)
    return all.reverse()
  }
}

function countedAmountsOf(all: readonly CountedAmount[]): CountedAmounts {
  return all.reduce<CountedAmounts>((counting, counted) => counting.withAmount(counted), CountedAmounts.NOTHING)
}

/** A refund, and how much of it counts in the total. */
export interface RiseContribution {
  readonly refund: KnownRefund
  readonly amount: number
}

/** The refunds that may have caused the rise. */
export interface RiseCandidates {
  /** The amount that was never captured and may have been released before. */
  readonly released: number
  /** The refund that caused the total, if it is certain. */
  readonly own: KnownRefund | undefined
  /** Refunds that may be older than the total's own change. */
  readonly before: readonly KnownRefund[]
  /** Refunds that were made at about the time at which the provider reported the total. */
  readonly near: readonly KnownRefund[]
  /** Refunds that may be the total's own change, latest first. */
  readonly within: readonly KnownRefund[]
}

/** How a total follows from the amounts that were included before. */
export interface RiseBreakdown {
  /** The amount that came back before the total. */
  readonly fallen: number
  /** The refunds, the released amount and the unknown amount between the last total and the change of this total. */
  readonly before: readonly RiseContribution[]
  readonly released: number
  readonly openBefore: number
  /** The refunds and the unknown amount in the change of this total. */
  readonly within: readonly RiseContribution[]
  readonly openWithin: number
}

/** Fills a rise so that the least amount is unknown, in as few unknown refunds as possible. */
export function fillRise(
  { total, totalBefore }: Pick<RefundTotal, 'total' | 'totalBefore'>,
  counting: Pick<CountedAmounts, 'sum' | 'lastUnnamed'>,
  fillers: RiseCandidates,
): RiseBreakdown {
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
  const plan = (first: readonly KnownRefund[]): RiseBreakdown => {
    const isLeft = (refund: KnownRefund) => !first.includes(refund)
    const own = first.map(refund => contribution(refund, refund.amount ?? rise))
    const earlier = fillSpan(room, before.filter(isLeft))
    const released = Math.min(fillers.released, earlier.open)
    const left = within.filter(
      candidate => isLeft(candidate) && !earlier.fillings.some(({ refund }) => refund === candidate),
    )
    const fillings = [...own, ...changeBy(left, rise - sumOf(own)).map(refund => contribution(refund))]
    const open = rise - sumOf(fillings)
    // A refund of unknown amount from that time explains the rest.
    const rest = open === 0 ? undefined : left.find(({ amount }) => amount === null)
    return {
      fallen,
      before: earlier.fillings,
      released,
      openBefore: earlier.open - released,
      within: rest === undefined ? fillings : [...fillings, contribution(rest, open)],
      openWithin: rest === undefined ? open : 0,
    }
  }
  /** Refunds that were made long before the total are its change only if they have exactly its amount. */
  const changeBy = (refunds: readonly KnownRefund[], amount: number): readonly KnownRefund[] => {
    const whole = pickSummands(withKnownAmount(refunds), amount, candidate => candidate.amount)
    if (sumOf(whole) === amount) return whole
    return pickSummands(
      withKnownAmount(refunds.filter(candidate => near.includes(candidate))),
      amount,
      candidate => candidate.amount,
    )
  }
  if (own !== undefined) return plan([own])
  const asDated = betterBreakdown(plan(changeBy(near, rise)), plan([]))
  // If the times leave an amount unknown, the total may have been sent late.
  const asSent = plan(changeBy(within, rise))
  return unknownAmount(asSent) < unknownAmount(asDated) ? asSent : asDated
}

/** The total does not say from which amount it rose, so everything since the last total is one rise. */
function fillUnknownStart(
  total: number,
  { sum, lastUnnamed }: Pick<CountedAmounts, 'sum' | 'lastUnnamed'>,
  { own, before, within }: RiseCandidates,
): RiseBreakdown {
  const rise = total - sum
  const nothing = { before: [], released: 0, openBefore: 0 }
  const others = within.concat(before.filter(refund => !within.includes(refund)))
  if (rise <= 0 && own === undefined && others.length === 0 && lastUnnamed !== undefined) {
    // A refund was made, but the total is not higher: the unnamed refund came back and was made again.
    return { ...nothing, fallen: lastUnnamed - rise, within: [], openWithin: lastUnnamed }
  }
  const ownFillings = own === undefined ? [] : [contribution(own)]
  const rest = rise - sumOf(ownFillings)
  const { fillings, open } = fillSpan(Math.max(0, rest), others)
  return { ...nothing, fallen: Math.max(0, -rest), within: [...ownFillings, ...fillings], openWithin: open }
}

function unknownAmount({ openBefore, openWithin }: RiseBreakdown): number {
  return openBefore + openWithin
}

/** The fill with the smaller unknown amount, or else with fewer unknown refunds, or else the first. */
function betterBreakdown(a: RiseBreakdown, b: RiseBreakdown): RiseBreakdown {
  const refunds = ({ openBefore, openWithin }: RiseBreakdown) => Number(openBefore > 0) + Number(openWithin > 0)
  return unknownAmount(b) < unknownAmount(a) || (unknownAmount(b) === unknownAmount(a) && refunds(b) < refunds(a))
    ? b
    : a
}

/** Fills the rise of a time span. If the refunds in it exceed the rise, money came back that nobody reported. */
function fillSpan(
  rise: number,
  refunds: readonly KnownRefund[],
): { fillings: readonly RiseContribution[]; open: number } {
  const chosen = pickSummands(withKnownAmount(refunds), rise, candidate => candidate.amount)
  const fillings = chosen.map(refund => contribution(refund))
  const open = rise - sumOf(fillings)
  const rest = open === 0 ? undefined : refunds.find(candidate => !chosen.some(other => other === candidate))
  return rest === undefined ? { fillings, open } : { fillings: [...fillings, contribution(rest, open)], open: 0 }
}

/**
 * How likely an amount has come back, most likely first: it came back at an unknown time; only totals prove it; it came
 * back at a known time; it is not known to have come back.
 */
function moneyReturnRank({ cameBack, isUnnamed }: CountedAmount): number {
  if (isUnnamed) return 1
  if (cameBack === null) return 3
  return cameBack.at === null ? 0 : 2
}

/** The items with the largest sum that does not exceed the target; of equal sums the first. */
function pickSummands<T>(items: readonly T[], target: number, amountOf: (item: T) => number): readonly T[] {
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

export function withKnownAmount(
  refunds: readonly KnownRefund[],
): readonly (KnownRefund & { readonly amount: number })[] {
  return refunds.filter((refund): refund is KnownRefund & { readonly amount: number } => refund.amount !== null)
}

export function contribution(refund: KnownRefund, amount = refund.amount ?? 0): RiseContribution {
  return { refund, amount }
}

function sumOf(list: readonly { readonly amount: number }[]): number {
  return list.reduce((sum, { amount }) => sum + amount, 0)
}
