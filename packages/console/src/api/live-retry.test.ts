import { expect, test } from 'vitest'
import { liveRetryWait } from './live-retry.ts'

test('waits longer after each refusal of the live stream, up to a minute', () => {
  const waits = [1, 2, 3, 6, 100].map(refusals => liveRetryWait(refusals, undefined, 1))
  expect(waits).toEqual([2_000, 4_000, 8_000, 60_000, 60_000])
})

test('waits at least half as long by chance, so that many tabs do not return at once', () => {
  expect(liveRetryWait(3, undefined, 0)).toBe(4_000)
})

test.each([
  [30_000, 30_000],
  [1_000, 2_000],
  [3_600_000, 600_000],
])('waits as long as the server asks, but ten minutes at most: asked %d, waits %d', (askedMs, waitMs) => {
  expect(liveRetryWait(1, askedMs, 1)).toBe(waitMs)
})
