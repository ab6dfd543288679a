/** The median: the middle value, or the mean of the two middle values. @throws RangeError if there are no values */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('There is no median of no values')
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/**
 * The smallest value that is at least as large as the given share of all values.
 * @param share above 0, at most 1: 0.99 for the 99th percentile
 * @throws RangeError if there are no values
 */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError('There is no percentile of no values')
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
}
