import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketOf, countInBuckets, medianOf } from './time-buckets.ts'

test('the median of durations in buckets is within 5 % of the exact median', () => {
  const durations = fc.array(fc.oneof(fc.nat(400 * 86_400_000), fc.nat(10_000)), { minLength: 1 })
  fc.assert(
    fc.property(durations, given => {
      const exact = given.toSorted((a, b) => a - b)[Math.ceil(given.length / 2) - 1] as number
      const median = medianOf(countInBuckets(given)) as number
      expect(Math.abs(median - exact)).toBeLessThanOrEqual(exact * 0.05)
      if (exact < 100) expect(median).toBe(exact)
    }),
  )
})

test('a bucket has two leading digits, and no durations have no median', () => {
  expect([0, 99, 100, 129, 60_999, 123_456, -5].map(bucketOf)).toEqual([0, 99, 100, 120, 60_000, 120_000, 0])
  expect(medianOf([])).toBeNull()
})
