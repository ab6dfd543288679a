/**
 * 200 connections with dead providers must not delay the sweeps of 50 other connections. Two reconciler processes run at the same
 * time, one with the dead providers and one without. `npm run bench -- reconciler --only dead` prints the numbers.
 */
import { join } from 'node:path'
import { until } from '@backstop/kit/test'
import { afterAll, expect, test } from 'vitest'
import { percentile } from '../../bench/frame/statistics.ts'
import { dataFolder, stackUrls } from '../setup/product.ts'
import { ALIVE_COUNT, DEAD_COUNT, openSweptProviders } from '../setup/swept-providers.ts'

/** So long that the noise of a busy machine is small beside it, and short beside the wait for a provider that does not answer. */
const EVERY_MS = 10_000
/** Intervals of each reconciler: three of each connection. */
const COUNTED = 3 * ALIVE_COUNT
/** The largest allowed quotient of the p99 of the sweep intervals, with and without dead providers. */
const GROWTH = 1.2
const stops: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

test('do not delay the sweeps of providers that answer, from the first sweep on', async () => {
  const folder = dataFolder('dead-providers')
  const reconcilers = await Promise.all(
    [false, true].map(hasDead => {
      const name = `${hasDead ? 'with' : 'without'}-dead-${process.pid}`
      return openSweptProviders({ name, stack: stackUrls(), folder: join(folder, name), hasDead, everyMs: EVERY_MS })
    }),
  )
  stops.push(...reconcilers.map(reconciler => () => reconciler.close()))
  await Promise.all(reconcilers.map(reconciler => reconciler.start()))
  const startedAt = performance.now()
  const firstMs = await Promise.all(
    reconcilers.map(async reconciler => {
      await until('the first sweeps', () => reconciler.sweptCount() === ALIVE_COUNT, {
        timeoutMs: 90_000,
        seen: reconciler.sweptCount,
      })
      return performance.now() - startedAt
    }),
  )
  // Counting starts when the connections that failed once are paused.
  await new Promise(resolve => setTimeout(resolve, 2 * EVERY_MS))
  for (const reconciler of reconcilers) reconciler.dropCounted()
  const counts = () => reconcilers.map(reconciler => reconciler.intervalsMs().length)
  await until('the intervals', () => Math.min(...counts()) >= COUNTED, { timeoutMs: 120_000, seen: counts })
  const p99 = reconcilers.map(reconciler => percentile(reconciler.intervalsMs(), 0.99))
  process.stdout.write(
    `interval at p99 of ${ALIVE_COUNT} connections: ${p99[0]?.toFixed(0)} ms alone, ${p99[1]?.toFixed(0)} ms beside ` +
      `${DEAD_COUNT} dead ones (${counts().join(' and ')} intervals); first sweeps after ${firstMs.map(ms => ms.toFixed(0)).join(' and ')} ms\n`,
  )
  expect(p99[1]).toBeLessThan(p99[0]! * GROWTH)
})
