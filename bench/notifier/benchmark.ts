import type { Benchmark } from '../frame/benchmark.ts'
import { openBulkhead } from './bulkhead.ts'
import { compareLatency } from './latency.ts'
import { startBenchReceiver } from './receiver.ts'
import { CHANNELS, openThroughput } from './throughput.ts'

export const notifierBenchmark: Benchmark = {
  name: 'notifier',
  about: 'how fast and how soon one notifier process delivers',
  async open(surroundings) {
    const receiver = await startBenchReceiver(surroundings.folder)
    const throughput = await openThroughput(surroundings, receiver)
    const latency = compareLatency(throughput.notifier, receiver, CHANNELS)
    const bulkhead = await openBulkhead(surroundings, receiver)
    return {
      comparisons: [throughput.comparison, latency, bulkhead.comparison],
      async stop() {
        await bulkhead.stop()
        await throughput.stop()
        await receiver.stop()
      },
    }
  },
}
