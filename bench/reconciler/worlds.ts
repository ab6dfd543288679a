import { openReconcilerAlone, type ReconcilerAlone } from '../../test/setup/reconciler-alone.ts'
import type { BenchSurroundings } from '../frame/benchmark.ts'

/**
 * The reconcilers of a benchmark, each started at first use, so that a comparison does not wait for the reconcilers of
 * others.
 */
export interface Worlds {
  /** @param recheckDelayMs the recheck delay of the reconciler with this name, in milliseconds */
  get(name: string, recheckDelayMs: number): Promise<ReconcilerAlone>
  close(): Promise<void>
}

export function createWorlds(surroundings: BenchSurroundings): Worlds {
  const opened = new Map<string, Promise<ReconcilerAlone>>()
  return {
    get(name, recheckDelayMs) {
      const world = opened.get(name) ?? openReconcilerAlone({ ...surroundings, name: `bench-${name}`, recheckDelayMs })
      opened.set(name, world)
      return world
    },
    async close() {
      for (const world of await Promise.all(opened.values())) await world.close()
    },
  }
}
