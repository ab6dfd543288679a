/**
 * The alerts of another project while a storm arrives: 17 refunds a second are 10,000 in ten minutes. BACKSTOP_STORM_PER_SECOND
 * sets another rate.
 */
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStormWorld, refundAlert, type StormWorld } from '../../services/notifier/test/storm-world.ts'
import { publishSteadily } from '../setup/steady-load.ts'

const PER_SECOND = Number(process.env.BACKSTOP_STORM_PER_SECOND ?? 17)
const STORM_S = 20
/** Alerts of the other project before the storm, and at least during it. */
const PROBES = 5
const MOST_TIMES_CALM = 1.5
const MOST_MORE_MS = 500
let world: StormWorld

beforeAll(async () => {
  world = await openStormWorld()
})
afterAll(() => world?.stop())

const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

test('a storm of 17 refunds a second hardly delays the alerts of another project', async () => {
  const count = PER_SECOND * STORM_S
  // The ids are new at each try, because a repeated alert is not sent again.
  const first = Date.now()
  const known = world.requestsTo('/hook').length
  const arrived = () => world.requestsTo('/hook').length - known
  // The first alert opens connections.
  await world.timeOfOtherAlert(`first_${first}`)
  const calm: number[] = []
  while (calm.length < PROBES) calm.push(await world.timeOfOtherAlert(`calm_${first}_${calm.length}`))

  let isArriving = true
  const storm = publishSteadily(world.publish, count, PER_SECOND, index => refundAlert(first + index)).finally(() => {
    isArriving = false
  })
  const stormy: number[] = []
  const measure = async () => {
    await until('the storm has begun', () => arrived() > 10, { timeoutMs: 60_000 })
    while (isArriving) stormy.push(await world.timeOfOtherAlert(`stormy_${first}_${stormy.length}`))
  }
  await Promise.all([storm, measure()])
  const result = { calm_ms: median(calm), stormy_ms: median(stormy), slowest_ms: Math.max(...stormy) }
  const conditions = { per_second: PER_SECOND, probes: stormy.length, undelivered_at_end: count - arrived() }
  process.stdout.write(`storm: ${JSON.stringify({ ...result, ...conditions })}\n`)
  expect(stormy.length).toBeGreaterThanOrEqual(PROBES)
  expect(median(stormy)).toBeLessThan(median(calm) * MOST_TIMES_CALM + MOST_MORE_MS)
  await until('all webhooks', () => arrived() === count, { timeoutMs: 120_000 })
})
