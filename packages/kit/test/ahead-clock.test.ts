import { expect, test } from 'vitest'
import { createAheadClock } from './ahead-clock.ts'
import { until } from './until.ts'

const HOUR_MS = 3_600_000

test('calls what is due when it is put ahead, and nothing that is cancelled or due later', async () => {
  const clock = createAheadClock()
  const from = clock.now()
  const called: string[] = []
  clock.schedule(HOUR_MS, () => called.push('in an hour'))
  clock.schedule(HOUR_MS, () => called.push('cancelled'))()
  clock.schedule(3 * HOUR_MS, () => called.push('in three hours'))
  clock.advance(2 * HOUR_MS)
  await until('the call', () => called.length > 0)
  expect(called).toEqual(['in an hour'])
  expect(clock.now() - from).toBeGreaterThanOrEqual(2 * HOUR_MS)
  clock.advance(HOUR_MS)
  await until('the later call', () => called.length > 1)
  expect(called).toEqual(['in an hour', 'in three hours'])
})
