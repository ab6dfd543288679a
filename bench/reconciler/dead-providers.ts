/** Measures how much connections with unavailable providers delay the sweeps of the other connections. */
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '@backstop/kit/test'
import { ALIVE_COUNT, DEAD_COUNT, openSweptProviders, type SweptProviders } from '../../test/setup/swept-providers.ts'
import type { BenchSurroundings, Comparison } from '../frame/benchmark.ts'
import { percentile } from '../frame/statistics.ts'

/** Interval of sweeps, in milliseconds: much shorter than in production, so that a delay of one second is visible. */
const EVERY_MS = 4_000
const COUNTED_MS = 60_000
const FIRST_WITHIN_MS = 180_000

export function compareDeadProviders(surroundings: BenchSurroundings): Comparison & { stop(): Promise<unknown> } {
  const worlds = new Map<boolean, Promise<SweptProviders>>()
  const open = (hasDead: boolean) => {
    const name = `bench-${hasDead ? 'with' : 'without'}-dead`
    const world = worlds.get(hasDead) ?? openSweptProviders({ ...surroundings, name, hasDead, everyMs: EVERY_MS })
    worlds.set(hasDead, world)
    return world
  }
  return {
    name: `Dead providers: ${DEAD_COUNT} connections that do not answer beside ${ALIVE_COUNT} that do`,
    readings: { 'between two sweeps, p99': 'ms', 'start to the last first sweep': 'ms' },
    contenders: [
      { name: 'all answer', measure: () => measure(false) },
      { name: '200 do not', measure: () => measure(true) },
    ],
    targets: [
      { reading: 'between two sweeps, p99', of: '200 do not', against: 'all answer', is: 'at most', value: 1.2 },
    ],
    stop: async () => Promise.all([...worlds.values()].map(async world => (await world).close())),
  }

  async function measure(hasDead: boolean) {
    const world = await open(hasDead)
    await world.clear()
    await world.start()
    const startedAt = performance.now()
    await until('the first sweeps', () => world.sweptCount() === ALIVE_COUNT, { timeoutMs: FIRST_WITHIN_MS })
    const firstMs = performance.now() - startedAt
    await sleep(3 * EVERY_MS)
    world.dropCounted()
    await sleep(COUNTED_MS)
    const intervalMs = percentile(world.intervalsMs(), 0.99)
    await world.stop()
    return { 'between two sweeps, p99': intervalMs, 'start to the last first sweep': firstMs }
  }
}
