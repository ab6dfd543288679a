/** Measures what more stored refunds, more billing connections and more processes cost. */
import type { Benchmark } from '../frame/benchmark.ts'
import { compareIngressConnections, compareReconcilerConnections } from './connections.ts'
import { createHistories } from './histories.ts'
import { compareProcesses } from './processes.ts'
import { compareReads } from './reads.ts'
import { compareStoredActions } from './stored-actions.ts'

export const growthBenchmark: Benchmark = {
  name: 'growth',
  about: 'what more stored actions, more billing connections and more processes cost',
  async open(surroundings) {
    const { stored = [1_000_000] } = surroundings
    const histories = createHistories(surroundings)
    const ingress = compareIngressConnections(surroundings)
    const reads = compareReads(histories, surroundings, stored)
    return {
      comparisons: [
        compareStoredActions(histories, stored),
        reads,
        compareReconcilerConnections(histories),
        ingress,
        compareProcesses(histories),
      ],
      async stop() {
        await ingress.stop()
        await reads.stop()
        await histories.close()
      },
    }
  },
}
