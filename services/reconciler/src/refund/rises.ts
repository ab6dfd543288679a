import type { CameBack } from '@backstop/providers'
import type { RefundTotal } from '../case/case.ts'
import type { Timed } from '../case/pairing.ts'

/** Fills one rise of a charge's total with the known refunds that may have made it. */

/** Among more than these no sum is searched for: there are 2^n sums. */
const MAX_SUMMANDS = 10

/** A known refund of a charge. Its name is its identity. */
export interface KnownRefund extends Timed {
  /** Null where no provider states it. */
  readonly amount: number | null
  readonly idempotencyKey: string | null
  readonly requestId: string | null
  /** When its money came back; null where it did not. */
  readonly cameBack: CameBack | null
}

/** An amount that counts in the charge's total. */
interface Counted {
  readonly amount: number
  readonly cameBack: CameBack | null
  /** Only totals prove it. */
  readonly isUnnamed: boolean
}

interface Link {
  readonly one: Counted
  readonly before: Link | undefined
}

/** What counts in the charge's total at a moment. It never changes: what is added to it makes another, which shares the rest. */
export class Counting {
  static readonly NOTHING = new Counting(undefined, 0, Infinity, undefined)

  readonly #latest: Link | undefined
  readonly sum: number
  readonly #firstBackAt: number
  /** The amount of the latest that only totals prove; undefined where there is none. */
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

  /** Without what came back before a time, as an event told. */
  withoutThoseBack(before: number): Counting {
    if (this.#firstBackAt >= before) return this
    return countingOf(this.#all().filter(({ cameBack }) => (cameBack?.at ?? Infinity) >= before))
  }

  /** Without an amount that came back, as a lower total shows: the refunds that are likeliest to have. */
  without(amount: number): Counting {
    if (amount === 0) return this
    const all = this.#all()
    const likeliest = all.toSorted((a, b) => fallRank(a) - fallRank(b))
    const gone = pick(likeliest, amount, one => one.amount)
    if (sumOf(gone) === amount) return countingOf(all.filter(one => !gone.includes(one)))
    // No refunds add up to it: more failed than was reported.
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

/** A refund, and how much of it counts. */
export interface Filling {
  readonly refund: KnownRefund
  readonly amount: number
}

/** The refunds that may have made the rise. */
export interface Fillers {
  /** What the provider may have let go of before, which was never captured. */
  readonly released: number
  /** The refund that the total was sent for, where that is certain. */
  readonly own: KnownRefund | undefined
  /** May have been made before the total's own change. */
  readonly before: readonly KnownRefund[]
  /** Were made at the time of the total. */
  readonly near: readonly KnownRefund[]
  /** May be the total's own change, the latest first. */
  readonly within: readonly KnownRefund[]
}

/** How a total comes from what counted until then. */
export interface Fill {
  /** What came back before it. */
  readonly fallen: number
  /**
   * What was refunded between the last total and this one's own change, how much was let go of that nobody captured, and how much
   * is unknown.
   */
  readonly before: readonly Filling[]
  readonly released: number
  readonly openBefore: number
  /** What was refunded by this one's own change, and how much of that is unknown. */
  readonly within: readonly Filling[]
  readonly openWithin: number
}

/** The way to fill a rise that leaves least unknown, and as few unknown refunds as possible. */
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
  /** First these make the total's own change, then others what was before it, then others again the rest of the change. */
  const plan = (first: readonly KnownRefund[]): Fill => {
    const isLeft = (refund: KnownRefund) => !first.includes(refund)
    const own = first.map(refund => filling(refund, refund.amount ?? rise))
    const earlier = fillWith(room, before.filter(isLeft))
    const released = Math.min(fillers.released, earlier.open)
    const left = within.filter(one => isLeft(one) && !earlier.fillings.some(({ refund }) => refund === one))
    const fillings = [...own, ...changeBy(left, rise - sumOf(own)).map(refund => filling(refund))]
    const open = rise - sumOf(fillings)
    // A refund of unknown amount made then is the rest.
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
  /** Those made long before the total was sent are its change only where they are all of it. */
  const changeBy = (refunds: readonly KnownRefund[], amount: number): readonly KnownRefund[] => {
    const whole = pick(stated(refunds), amount, one => one.amount)
    if (sumOf(whole) === amount) return whole
    return pick(stated(refunds.filter(one => near.includes(one))), amount, one => one.amount)
  }
  if (own !== undefined) return plan([own])
  const asDated = simpler(plan(changeBy(near, rise)), plan([]))
  // Where their times leave money open, the total may have been sent late.
  const asSent = plan(changeBy(within, rise))
  return openIn(asSent) < openIn(asDated) ? asSent : asDated
}

/** The total does not say from where it rose: everything since the last one is one rise. */
function fillUnknownStart(
  total: number,
  { sum, lastUnnamed }: Pick<Counting, 'sum' | 'lastUnnamed'>,
  { own, before, within }: Fillers,
): Fill {
  const rise = total - sum
  const nothing = { before: [], released: 0, openBefore: 0 }
  const others = within.concat(before.filter(refund => !within.includes(refund)))
  if (rise <= 0 && own === undefined && others.length === 0 && lastUnnamed !== undefined) {
    // A refund was made, and the total is no higher: the unnamed one came back, and was made again.
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

/** The one that leaves less unknown, or the same in fewer refunds; of equal ones the first. */
function simpler(a: Fill, b: Fill): Fill {
  const refunds = ({ openBefore, openWithin }: Fill) => Number(openBefore > 0) + Number(openWithin > 0)
  return openIn(b) < openIn(a) || (openIn(b) === openIn(a) && refunds(b) < refunds(a)) ? b : a
}

/** Fills a stretch of time. Where the refunds made in it exceed its rise, something came back that nobody reported. */
function fillWith(rise: number, refunds: readonly KnownRefund[]): { fillings: readonly Filling[]; open: number } {
  const chosen = pick(stated(refunds), rise, one => one.amount)
  const fillings = chosen.map(refund => filling(refund))
  const open = rise - sumOf(fillings)
  const rest = open === 0 ? undefined : refunds.find(one => !chosen.some(other => other === one))
  return rest === undefined ? { fillings, open } : { fillings: [...fillings, filling(rest, open)], open: 0 }
}

/** The likeliest to have failed are those of which it is known but not when; last, those that are not known to have failed. */
function fallRank({ cameBack, isUnnamed }: Counted): number {
  if (isUnnamed) return 1
  if (cameBack === null) return 3
  return cameBack.at === null ? 0 : 2
}

/** Those of the items that add up to most without exceeding the target; where sums are equal, the first. */
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

/** Those whose amount is stated. */
export function stated(refunds: readonly KnownRefund[]): readonly (KnownRefund & { readonly amount: number })[] {
  return refunds.filter((refund): refund is KnownRefund & { readonly amount: number } => refund.amount !== null)
}

export function filling(refund: KnownRefund, amount = refund.amount ?? 0): Filling {
  return { refund, amount }
}

function sumOf(list: readonly { readonly amount: number }[]): number {
  return list.reduce((sum, { amount }) => sum + amount, 0)
}
