import type { Benchmark } from '../frame/benchmark.ts'
import { openThroughput } from './throughput.ts'

export const reconcilerBenchmark: Benchmark = {
  name: 'reconciler',
  about: 'how fast one reconciler process judges',
  async open(surroundings) {
    const throughput = await openThroughput(surroundings)
    return { comparisons: [throughput.comparison], stop: async () => void (await throughput.stop()) }
  },
}
