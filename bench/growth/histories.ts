/** Reconcilers with histories of different sizes in their databases, beside each other in one MongoDB. */
import { MongoClient } from 'mongodb'
import { openReconcilerAlone, type ReconcilerAlone } from '../../test/setup/reconciler-alone.ts'
import type { Refund } from '../../test/setup/refunds.ts'
import type { BenchSurroundings } from '../frame/benchmark.ts'
import { type HistoryPlan, presentRefunds, removeHistory, storeHistory } from './history.ts'
import { judgePatterns, type Patterns } from './judged-refunds.ts'
import { measureJudging, NO_LOOKS_MS } from './judging.ts'

export const FEW = 10_000
export const CONNECTIONS = 20
/** The largest number of billing connections that is measured. */
export const MOST_CONNECTIONS = 10_000
const EVENTS = 40_000

export interface Histories {
  /** The reconciler whose database has this number of refunds. They are stored at first use. */
  get(count: number): Promise<ReconcilerAlone>
  /** Refunds of the present, which no history and no earlier run has. */
  newRefunds(count: number, connections: number): Refund[]
  /** Measures new refunds on a history. The smallest is made anew before. */
  measure(plan: HistoryPlan): ReturnType<typeof measureJudging>
  close(): Promise<void>
}

export function createHistories(surroundings: BenchSurroundings): Histories {
  // Without the time limits of the product, because an index of ten million documents takes a minute.
  const client = new MongoClient(surroundings.stack.mongo)
  const databaseOf = ({ mongo }: ReconcilerAlone) => client.db(mongo.db.databaseName)
  const opened = new Map<number, Promise<ReconcilerAlone>>()
  let patterns: Promise<Patterns> | undefined
  // Each refund has its own number. A run in a later second begins with a higher one.
  let next = Math.floor(Date.now() / 1_000) * 1_000_000

  function get(count: number): Promise<ReconcilerAlone> {
    const world = opened.get(count) ?? open(count)
    opened.set(count, world)
    return world
  }

  async function open(count: number): Promise<ReconcilerAlone> {
    const world = await openReconcilerAlone({
      ...surroundings,
      name: `bench-growth-${count}`,
      recheckDelayMs: NO_LOOKS_MS,
      connections: MOST_CONNECTIONS,
    })
    if (count === FEW) return world
    await store(world, { count, connections: CONNECTIONS })
    // The first measurement after so many inserts finds caches that no installation has.
    await measureJudging(world, newRefunds(EVENTS, CONNECTIONS))
    return world
  }

  async function store(world: ReconcilerAlone, plan: HistoryPlan): Promise<void> {
    patterns ??= judgePatterns(surroundings)
    const step = surroundings.log.step(`history of ${plan.count.toLocaleString('en')} refunds`)
    await storeHistory(databaseOf(world), await patterns, plan, text => step.update(text))
    step.done('stored')
  }

  function newRefunds(count: number, connections: number): Refund[] {
    next += count
    return presentRefunds(next - count, count, connections)
  }

  return {
    get,
    newRefunds,
    async measure(plan) {
      const world = await get(plan.count)
      if (plan.count === FEW) {
        await removeHistory(databaseOf(world))
        await store(world, plan)
      }
      return measureJudging(world, newRefunds(EVENTS, plan.connections))
    },
    async close() {
      for (const world of await Promise.all(opened.values())) await world.close()
      await client.close()
    },
  }
}
