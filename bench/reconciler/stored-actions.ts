/** Measures the time per event and the memory of the process, after few and after many stored events. */
import type { ReconcilerAlone } from '../../test/setup/reconciler-alone.ts'
import { makeRefunds } from '../../test/setup/refunds.ts'
import type { Comparison } from '../frame/benchmark.ts'
import { readingsOf, watchProgress } from './progress.ts'
import { COLLECTIONS } from './samples.ts'
import type { Worlds } from './worlds.ts'

const FEW = 10_000
const EVENTS = 40_000
/** The measured shares of the events. Processing starts when all events are on the topic. */
const SHARES = [0.4, 0.95, 1]
const FILL_AT_ONCE = 50_000
const NO_LOOKS_MS = 86_400_000

/**
 * Compares two processes with two databases. The database of the first is emptied before each measurement; the database
 * of the second contains all events judged so far.
 */
export function compareStoredActions(worlds: Worlds, many: number, onRequest: boolean): Comparison {
  const [few, much] = [FEW, many].map(count => `${count.toLocaleString('en')} stored`) as [string, string]
  const started = new Set<ReconcilerAlone>()
  let fills = 0
  return {
    name: `Stored actions, ${FEW.toLocaleString('en')} and ${many.toLocaleString('en')}`,
    onRequest,
    readings: { 'time for one event': 'µs', memory: 'MB' },
    contenders: [
      { name: few, measure: measureFew },
      { name: much, measure: measureMany },
    ],
    targets: [
      { reading: 'time for one event', of: much, against: few, is: 'at most', value: 1.15 },
      { reading: 'memory', of: much, against: few, is: 'at most', value: 1.25 },
    ],
  }

  async function measureFew() {
    const world = await running('few')
    for (const name of COLLECTIONS) await world.mongo.db.collection(name).deleteMany({})
    return measure(world, FEW)
  }

  async function measureMany() {
    const world = await running('many')
    const stored = await world.mongo.db.collection('actions').estimatedDocumentCount()
    return measure(world, Math.max(0, many - stored))
  }

  async function running(name: string): Promise<ReconcilerAlone> {
    const world = await worlds.get(`stored-${name}-of-${many}`, NO_LOOKS_MS)
    if (started.has(world)) return world
    started.add(world)
    await world.start()
    return world
  }

  /** @param before number of events to judge before the measured ones */
  async function measure(world: ReconcilerAlone, before: number) {
    for (let left = before; left > 0; left -= FILL_AT_ONCE) await judge(world, Math.min(left, FILL_AT_ONCE), [1])
    const [from, to] = await judge(world, EVENTS, SHARES)
    const memory = (await world.memoryBytes()) / 2 ** 20
    return { 'time for one event': 1_000_000 / readingsOf(from!, to!).events, memory }
  }

  async function judge(world: ReconcilerAlone, count: number, shares: readonly number[]) {
    const refunds = makeRefunds(`n${++fills}x`, count)
    const before = await world.committed('reconciler')
    await world.report(refunds)
    await world.publishEvents(refunds)
    return watchProgress(world, { group: 'reconciler', before, count, shares }, world.cpuMs)
  }
}
