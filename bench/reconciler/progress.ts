import type { ReconcilerAlone } from '../../test/setup/reconciler-alone.ts'
import { mongoCpuMs } from '../frame/mongo-cpu.ts'

/** The progress of a consumer at one moment. */
export interface ProgressMark {
  readonly atMs: number
  readonly events: number
  /** Processor time used so far, in milliseconds. */
  readonly cpuMs: number
  /** The same for MongoDB, with its work for others. */
  readonly mongoCpuMs: number
}

const LOOK_EVERY_MS = 20
const WITHIN_MS = 600_000

/**
 * Polls the committed offsets of a consumer group, and records time and CPU time when each share of the events is committed.
 * @param shares shares of all `count` events, from 0 to 1, ascending
 * @returns one record per share
 * @throws Error after ten minutes
 */
export async function watchProgress(
  world: ReconcilerAlone,
  { group, before, count, shares }: { group: string; before: number; count: number; shares: readonly number[] },
  cpuMs: () => Promise<number>,
): Promise<ProgressMark[]> {
  const deadline = performance.now() + WITHIN_MS
  const marks: ProgressMark[] = []
  for (const share of shares) {
    for (;;) {
      const events = (await world.committed(group)) - before
      if (events >= share * count) {
        const atMs = performance.now()
        marks.push({ atMs, events, cpuMs: await cpuMs(), mongoCpuMs: await mongoCpuMs(world.mongo.db) })
        break
      }
      if (performance.now() > deadline) throw new Error(`${group} committed ${events} of ${count} events`)
      await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
    }
  }
  return marks
}

/** Computes the readings between two marks. */
export function readingsOf(from: ProgressMark, to: ProgressMark) {
  const events = to.events - from.events
  return {
    events: (events / (to.atMs - from.atMs)) * 1_000,
    'processor time for one': ((to.cpuMs - from.cpuMs) / events) * 1_000,
    'MongoDB for one': ((to.mongoCpuMs - from.mongoCpuMs) / events) * 1_000,
  }
}
