/**
 * The refunds that the totals of one charge prove, as a function of the true history and of the events that arrived,
 * without order and without looks. It implements the rule in docs/decisions/explaining.md, "Totals of a charge":
 * between two totals, and within each, the known refunds are subtracted from the rise, and the rest is one refund.
 */

/** One refund of the charge, and which of its events arrived. Times are in seconds. */
export interface HappenedRefund {
  readonly amount: number
  readonly madeAt: number
  readonly failedAt: number | null
  readonly hasCreationEvent: boolean
  readonly hasFailureEvent: boolean
}

/** A `charge.refunded` event that arrived, about the refunds from `first` to `last`. */
export interface ArrivedTotal {
  readonly first: number
  readonly last: number
  readonly total: number
  /** Null if the event does not show the total before it. */
  readonly before: number | null
  /** True if the event lists every refund that was made by then. */
  readonly isListing: boolean
  readonly at: number
}

export interface HappenedCharge {
  readonly refunds: readonly HappenedRefund[]
  /** In order of time. */
  readonly totals: readonly ArrivedTotal[]
  /** True if the first rise may be from before the connection was made. */
  readonly isOlderThanConnection: boolean
}

export interface ProvedRefunds {
  /** The refunds that are known by name. */
  readonly named: readonly number[]
  /** The amounts of the refunds that only totals prove. */
  readonly unnamed: readonly number[]
  /** True if no event reported a failure, so that it is uncertain which of the known refunds still counts. */
  readonly isUncertain: boolean
  /** The amount that is proved in any case: the newest total minus the known refunds. */
  readonly leastUnnamed: number
}

export function proveRefunds({ refunds, totals, isOlderThanConnection }: HappenedCharge): ProvedRefunds {
  const listing = totals.findLast(({ isListing }) => isListing)
  const isNamed = ({ hasCreationEvent, hasFailureEvent }: HappenedRefund, index: number) =>
    hasCreationEvent || hasFailureEvent || (listing !== undefined && index <= listing.last)
  const isFailureKnown = ({ failedAt, hasFailureEvent }: HappenedRefund) =>
    hasFailureEvent || (listing !== undefined && failedAt !== null && failedAt < listing.at)
  const amountNamed = (from: number, to: number) =>
    refunds.reduce((sum, refund, index) => {
      return from <= index && index <= to && isNamed(refund, index) ? sum + refund.amount : sum
    }, 0)
  const cameBack = (from: number, to: number) =>
    refunds.reduce((sum, refund) => {
      const { failedAt, amount } = refund
      return failedAt !== null && from < failedAt && failedAt < to && isFailureKnown(refund) ? sum + amount : sum
    }, 0)
  const unnamed = totals.flatMap(({ first, last, total, before, at }, index) => {
    const previous = totals[index - 1] ?? { last: -1, total: 0, at: -Infinity }
    const fell = cameBack(previous.at, at)
    if (before === null) return [total - previous.total + fell - amountNamed(previous.last + 1, last)]
    const between = before - previous.total + fell - amountNamed(previous.last + 1, first - 1)
    const isCounted = index > 0 || !isOlderThanConnection
    return [isCounted ? between : 0, total - before - amountNamed(first, last)]
  })
  const newest = totals.at(-1)
  const believed = refunds.reduce((sum, refund, index) => {
    const at = newest?.at ?? 0
    const isBack = isFailureKnown(refund) && (refund.failedAt ?? 0) < at
    return isNamed(refund, index) && !isBack && refund.madeAt <= at ? sum + refund.amount : sum
  }, 0)
  return {
    leastUnnamed: isOlderThanConnection ? 0 : Math.max(0, (newest?.total ?? 0) - believed),
    isUncertain: refunds.some(refund => refund.failedAt !== null && !isFailureKnown(refund)) && refunds.some(isNamed),
    named: refunds.flatMap((refund, index) => (isNamed(refund, index) ? [index] : [])),
    unnamed: unnamed.filter(amount => amount > 0).sort((a, b) => a - b),
  }
}
