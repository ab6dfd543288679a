import type { Benchmark } from '../frame/benchmark.ts'
import { compareDeadProviders } from './dead-providers.ts'
import { compareSecondLook } from './second-look.ts'
import { compareThroughput } from './throughput.ts'
import { createWorlds } from './worlds.ts'

export const reconcilerBenchmark: Benchmark = {
  name: 'reconciler',
  about: 'how fast and how soon one reconciler process judges, and what dead providers cost',
  async open(surroundings) {
    const worlds = createWorlds(surroundings)
    const deadProviders = compareDeadProviders(surroundings)
    return {
      comparisons: [compareThroughput(worlds, surroundings), compareSecondLook(worlds), deadProviders],
      async stop() {
        await Promise.all([worlds.close(), deadProviders.stop()])
      },
    }
  },
}
