import type { Benchmark } from '../frame/benchmark.ts'
import { compareDeadProviders } from './dead-providers.ts'
import { compareSecondLook } from './second-look.ts'
import { compareStoredActions } from './stored-actions.ts'
import { compareThroughput } from './throughput.ts'
import { createWorlds } from './worlds.ts'

export const reconcilerBenchmark: Benchmark = {
  name: 'reconciler',
  about:
    'how fast and how soon one reconciler process judges, what it takes when much is stored, and what dead providers cost',
  async open(surroundings) {
    const worlds = createWorlds(surroundings)
    const deadProviders = compareDeadProviders(surroundings)
    return {
      comparisons: [
        compareThroughput(worlds, surroundings),
        compareSecondLook(worlds),
        compareStoredActions(worlds, 100_000, false),
        compareStoredActions(worlds, 1_000_000, true),
        deadProviders,
      ],
      async stop() {
        await Promise.all([worlds.close(), deadProviders.stop()])
      },
    }
  },
}
