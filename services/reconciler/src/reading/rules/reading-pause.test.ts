import { describe, expect, test } from 'vitest'
import { pauseAfterFailures } from './reading-pause.ts'

const MINUTE = 60_000

describe('the pause of a sweep after failures', () => {
  test('doubles with each failure, up to five minutes', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 1_000].map(failures => pauseAfterFailures(failures, MINUTE, null, 1))
    expect(pauses).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000])
  })

  test('is limited by the interval of sweeps if that is longer', () => {
    expect(pauseAfterFailures(1_000, 20 * MINUTE, null, 1)).toBe(20 * MINUTE)
  })

  test('is at least half of that; the rest is random', () => {
    expect(pauseAfterFailures(3, MINUTE, null, 0)).toBe(20_000)
    expect(pauseAfterFailures(3, MINUTE, null, 0.5)).toBe(30_000)
  })

  test("is at least the provider's Retry-After, up to an hour", () => {
    expect(pauseAfterFailures(1, MINUTE, 120_000, 1)).toBe(120_000)
    expect(pauseAfterFailures(7, MINUTE, 120_000, 1)).toBe(300_000)
    expect(pauseAfterFailures(1, MINUTE, 365 * 24 * 60 * MINUTE, 1)).toBe(60 * MINUTE)
  })
})
