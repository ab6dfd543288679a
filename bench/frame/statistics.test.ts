import { describe, expect, test } from 'vitest'
import { median, percentile } from './statistics.ts'

describe('of some numbers', () => {
  test.each([
    { name: 'one', values: [7], expected: 7 },
    { name: 'an odd number of them', values: [9, 1, 100], expected: 9 },
    { name: 'an even number of them', values: [4, 1, 2, 100], expected: 3 },
  ])('the median of $name is the middle', ({ values, expected }) => {
    expect(median(values)).toBe(expected)
  })

  test.each([
    { share: 0.5, expected: 50 },
    { share: 0.99, expected: 99 },
    { share: 0.991, expected: 100 },
    { share: 1, expected: 100 },
    { share: 0.001, expected: 1 },
  ])('the percentile at $share is exceeded by no more than the rest', ({ share, expected }) => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect(percentile(values, share)).toBe(expected)
  })
})

test('of no numbers there is neither', () => {
  expect(() => median([])).toThrow(RangeError)
  expect(() => percentile([], 0.5)).toThrow(RangeError)
})
