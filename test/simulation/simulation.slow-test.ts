import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { IS_SOAK } from '../setup/soak.ts'
import { simulate, weaknesses } from './command/simulate.ts'
import { openWorkers, type WorkerPool } from './command/worker-pool.ts'
import type { RunOptions } from './run.ts'

/** A run that was wrong because of the product, and the fault that was mended. */
interface Regression extends RunOptions {
  readonly fault: string
}

/**
 * A thousand take about five minutes on two cores, so `npm test` runs fewer of them beside other tests, and CI all on another machine. On a
 * machine that is five times slower they would take most of the time of all tests, so the time has an end, too.
 */
const RUNS = IS_SOAK ? 10_000 : Number(process.env.BACKSTOP_TEST_SEEDS ?? 1_000)
const WITHIN_MS = IS_SOAK ? Number.POSITIVE_INFINITY : 600_000
const LEAST_RUNS = 50
const TWICE_EVERY = 20
const regressions = parse(readFileSync(resolve(import.meta.dirname, 'regressions.yaml'), 'utf8')) as Regression[]

let workers: WorkerPool
beforeAll(async () => {
  workers = await openWorkers(2)
})
afterAll(() => workers.stop())

test(`${RUNS} seeds are right, and a seed gives the same run in another process`, {
  timeout: 6_000_000,
}, async ({ annotate }) => {
  const seeds = Array.from({ length: RUNS }, (_, index) => index + 1)
  const batch = { seeds, twiceEvery: TWICE_EVERY, withinMs: WITHIN_MS, atLeast: LEAST_RUNS }
  const result = await simulate(batch, { workers })
  const wrong = result.failures.map(({ options, answer }) => `seed ${options.seed}: ${answer.faults.join('; ')}`)
  await annotate(`${result.runs} seeds, ${Math.round(result.cpuMs)} ms of processor time each`)
  expect([...wrong, ...weaknesses(result)]).toEqual([])
  expect(result.runs).toBeGreaterThanOrEqual(LEAST_RUNS)
})

test.each(regressions)('$fault', async ({ fault: _, ...options }) => {
  const { faults } = await workers.run({ options, keepTimeline: false })
  expect(faults).toEqual([])
})
