import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bucket, type RateLimit, takeToken } from './connection-rate-limit.ts'

const LIMIT = { perSecond: 10, burst: 3 }

/** Counts the events at these times that are within the limit. */
function countWithinLimit(timesMs: readonly number[], limit: RateLimit): number {
  let bucket: Bucket | undefined
  let count = 0
  for (const atMs of timesMs) {
    const verdict = takeToken(bucket, limit, atMs)
    if (verdict.kind === 'exceeded') continue
    bucket = verdict.bucket
    count++
  }
  return count
}

describe('a connection', () => {
  test.each([
    { name: 'sends its burst at once', timesMs: [0, 0, 0, 0], count: 3 },
    { name: 'sends at its rate for ever', timesMs: Array.from({ length: 50 }, (_, at) => at * 100), count: 50 },
    { name: 'sends twice its rate', timesMs: Array.from({ length: 100 }, (_, at) => at * 50), count: 52 },
    {
      name: 'has its burst again after a pause, and no more',
      timesMs: [0, 0, 0, 9_000, 9_000, 9_000, 9_000],
      count: 6,
    },
    { name: 'gains nothing when the clock is set back', timesMs: [1_000, 1_000, 1_000, 0, 0], count: 3 },
  ])('that $name gets $count through', ({ timesMs, count }) => {
    expect(countWithinLimit(timesMs, LIMIT)).toBe(count)
  })

  test.each([
    { perSecond: 10, retryAfterS: 1 },
    { perSecond: 1, retryAfterS: 1 },
  ])('is told to wait $retryAfterS s at $perSecond a second', ({ perSecond, retryAfterS }) => {
    const limit = { perSecond, burst: 1 }
    const first = takeToken(undefined, limit, 0)
    expect(first.kind === 'within' && takeToken(first.bucket, limit, 0)).toEqual({ kind: 'exceeded', retryAfterS })
  })
})

test('in any window at most the burst plus the rate gets through', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 200 }), pausesMs => {
      let nowMs = 0
      const timesMs = pausesMs.map(pauseMs => (nowMs += pauseMs))
      expect(countWithinLimit(timesMs, LIMIT)).toBeLessThanOrEqual(LIMIT.burst + (nowMs / 1_000) * LIMIT.perSecond)
    }),
  )
})
