import type { Benchmark } from '../frame/benchmark.ts'
import { startBenchReceiver } from './receiver.ts'
import { openThroughput } from './throughput.ts'

export const notifierBenchmark: Benchmark = {
  name: 'notifier',
  about: 'how fast and how soon one notifier process delivers',
  async open(surroundings) {
    const receiver = await startBenchReceiver(surroundings.folder)
    const throughput = await openThroughput(surroundings, receiver)
    return {
      comparisons: [throughput.comparison],
      async stop() {
        await throughput.stop()
        await receiver.stop()
      },
    }
  },
}
