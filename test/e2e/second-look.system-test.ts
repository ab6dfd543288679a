/**
 * A reconciler process does second looks when they are due. The limit is high for a busy machine; `npm run bench -- reconciler`
 * measures the exact delay.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { percentile } from '../../bench/frame/statistics.ts'
import { dataFolder, stackUrls } from '../setup/product.ts'
import { openReconcilerAlone, type ReconcilerAlone } from '../setup/reconciler-alone.ts'
import { watchSecondLooks } from '../setup/second-looks.ts'

let reconciler: ReconcilerAlone
beforeAll(async () => {
  const name = `second-look-${process.pid}`
  reconciler = await openReconcilerAlone({
    name,
    stack: stackUrls(),
    folder: dataFolder('second-look'),
    recheckDelayMs: 5_000,
  })
  await reconciler.start()
})
afterAll(() => reconciler?.close())

test('does a thousand second looks when they are due, and none earlier', { timeout: 180_000 }, async () => {
  const { lateMs, decidedMs } = await watchSecondLooks(reconciler, 'e', {
    count: 1_000,
    perSecond: 100,
    withinMs: 90_000,
  })
  expect(Math.min(...decidedMs)).toBeGreaterThanOrEqual(0)
  expect(percentile(lateMs, 0.99)).toBeLessThan(10_000)
})
