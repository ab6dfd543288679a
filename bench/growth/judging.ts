/** Measures how fast the reconciler judges the events of a full topic. */
import type { ReconcilerAlone } from '../../test/setup/reconciler-alone.ts'
import { type Refund, unexplainedOf } from '../../test/setup/refunds.ts'
import type { ServiceInstance } from '../../test/setup/service-alone.ts'
import { readingsOf, watchProgress } from '../reconciler/progress.ts'
import { COLLECTIONS } from '../reconciler/samples.ts'
import { watchHeap } from './heap.ts'

export const READINGS = {
  events: '/s',
  'processor time for one': 'µs',
  'MongoDB for one': 'µs',
  'largest heap': 'MB',
} as const

/** Longer than a measurement, in milliseconds, so that no second look happens during it. */
export const NO_LOOKS_MS = 86_400_000
/** The measured shares of the events. They exclude the start, while code is compiled, and the end, where partitions have no work left. */
const SHARES = [0.2, 0.95, 1]

/**
 * Publishes the events, starts the processes, and stops them when everything is judged.
 * @param refunds new ones, of which one in twenty is unexplained
 * @throws Error if a document or a message is missing, or there twice
 */
export async function measureJudging(
  world: ReconcilerAlone,
  refunds: readonly Refund[],
  processes: readonly ServiceInstance[] = [world],
) {
  const before = await countAll(world)
  const committed = await world.committed('reconciler')
  await world.report(refunds)
  await world.publishEvents(refunds)
  await Promise.all(processes.map(process => process.start()))
  const largestHeap = watchHeap(processes)
  const cpuMs = async () =>
    (await Promise.all(processes.map(process => process.cpuMs()))).reduce((sum, one) => sum + one)
  const progress = { group: 'reconciler', before: committed, count: refunds.length, shares: SHARES }
  const [from, to] = await watchProgress(world, progress, cpuMs)
  const heap = await largestHeap()
  await Promise.all(processes.map(process => process.stop()))
  const after = await countAll(world)
  const added = after.map((count, index) => count - before[index]!)
  const expected = [...COLLECTIONS.map(() => refunds.length), unexplainedOf(refunds.length)]
  if (added.join() !== expected.join()) throw new Error(`${refunds.length} events added ${added}, and not ${expected}`)
  return { ...readingsOf(from!, to!), 'largest heap': heap }
}

/** The numbers of documents, by the collections' own counters, and of messages that ask for a second look. */
function countAll(world: ReconcilerAlone): Promise<number[]> {
  const documents = COLLECTIONS.map(name => world.mongo.db.collection(name).estimatedDocumentCount())
  return Promise.all([...documents, world.count('rechecks')])
}
