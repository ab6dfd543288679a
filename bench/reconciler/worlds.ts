import { openReconcilerAlone, type ReconcilerAlone } from '../../test/world/reconciler-alone.ts'
import type { BenchSurroundings } from '../frame/benchmark.ts'

/** Opens a world when it is first used, so that a run of one comparison does not wait for the worlds of others. */
export interface Worlds {
  /** @param recheckDelayMs the recheck delay of the world with that name */
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
