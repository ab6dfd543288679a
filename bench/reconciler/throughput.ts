/** Measures events per second from a full topic, compared with a loop that does less. */
import { join } from 'node:path'
import type { ConnectionDocument } from '@backstop/contracts'
import type { ReconcilerAlone } from '../../test/setup/reconciler-alone.ts'
import { makeRefunds, type Refund, unexplainedOf } from '../../test/setup/refunds.ts'
import type { BenchSurroundings, Comparison } from '../frame/benchmark.ts'
import { startChild } from '../frame/children.ts'
import { readingsOf, watchProgress } from './progress.ts'
import { COLLECTIONS } from './samples.ts'
import type { Worlds } from './worlds.ts'

const EVENTS = 60_000
/**
 * The measured shares of the events. They exclude the start, while code is compiled, and the end, where partitions have
 * no work left.
 */
const SHARES = [0.2, 0.95, 1]
/** A recheck delay longer than the measurement, in milliseconds, so that no second look happens during it. */
const RECHECK_DELAY_MS = 86_400_000

export function compareThroughput(worlds: Worlds, surroundings: BenchSurroundings): Comparison {
  const open = (name: string) => worlds.get(name, RECHECK_DELAY_MS)
  return {
    name: 'Throughput from a full topic',
    readings: { events: '/s', 'processor time for one': 'µs', 'MongoDB for one': 'µs' },
    contenders: [
      { name: 'reconciler', measure: async () => measureReconciler(await open('reconciler')) },
      { name: '1,000 connected accounts', measure: async () => measurePlatform(await open('platform')) },
      {
        name: 'bare loop',
        measure: async () => measureBareLoop(await open('bare-loop'), await open('reconciler'), surroundings),
      },
    ],
    targets: [
      { reading: 'events', of: 'reconciler', against: 'bare loop', is: 'at least', value: 0.65 },
      {
        reading: 'processor time for one',
        of: '1,000 connected accounts',
        against: 'reconciler',
        is: 'at most',
        value: 1.05,
      },
      { reading: 'events', of: 'reconciler', is: 'at least', value: 8_000 },
      { reading: 'processor time for one', of: 'reconciler', is: 'at most', value: 90 },
    ],
  }
}

let rounds = 0

const ACCOUNTS = 1_000
const accountOf = (index: number) => `acct_1Rf${String(index % ACCOUNTS).padStart(13, '0')}`

/** The same events, each of one of 1,000 accounts, of which all have a setting of their own on one connection. */
async function measurePlatform(world: ReconcilerAlone) {
  const accounts = Array.from({ length: ACCOUNTS }, (_, index) => ({
    account: accountOf(index),
    out_of_band: 'alert' as const,
  }))
  await world.mongo.db.collection<ConnectionDocument>('connections').updateOne({ _id: 'con_0' }, { $set: { accounts } })
  return measureReconciler(world, accountOf)
}

/** Publishes events of new refunds. */
async function publishRefunds(world: ReconcilerAlone, accountOf?: (index: number) => string): Promise<Refund[]> {
  const refunds = makeRefunds(`r${++rounds}`, EVENTS)
  await world.publishEvents(refunds, undefined, accountOf)
  return refunds
}

async function measureReconciler(world: ReconcilerAlone, accountOf?: (index: number) => string) {
  const before = { events: await world.committed('reconciler'), rechecks: await world.count('rechecks') }
  const refunds = await publishRefunds(world, accountOf)
  await world.report(refunds)
  await world.start()
  const [from, to] = await watchProgress(
    world,
    { group: 'reconciler', before: before.events, count: EVENTS, shares: SHARES },
    world.cpuMs,
  )
  await world.stop()
  await expectDone(world, before.events + EVENTS, before.rechecks)
  return readingsOf(from!, to!)
}

/** @param reconciler the source of the documents that the loop writes */
async function measureBareLoop(
  world: ReconcilerAlone,
  reconciler: ReconcilerAlone,
  { stack, folder }: BenchSurroundings,
) {
  const before = { events: await world.committed('bare-loop'), rechecks: await world.count('rechecks') }
  await publishRefunds(world)
  const env = {
    BROKERS: stack.kafka,
    PREFIX: world.topicPrefix,
    MONGO: stack.mongo,
    DB: world.mongo.db.databaseName,
    RECONCILER_DB: reconciler.mongo.db.databaseName,
  }
  const child = startChild(new URL('bare-loop-main.ts', import.meta.url), env, join(folder, 'bare-loop.log'))
  const [from, to] = await watchProgress(
    world,
    { group: 'bare-loop', before: before.events, count: EVENTS, shares: SHARES },
    () => child.cpuMs(),
  )
  await child.stop()
  await expectDone(world, before.events + EVENTS, before.rechecks)
  return readingsOf(from!, to!)
}

/** @throws Error if the number of documents or messages is wrong */
async function expectDone(world: ReconcilerAlone, events: number, rechecksBefore: number): Promise<void> {
  const found = await Promise.all(COLLECTIONS.map(name => world.mongo.db.collection(name).countDocuments()))
  const rechecks = (await world.count('rechecks')) - rechecksBefore
  const isDone = found.every(count => count === events) && rechecks === unexplainedOf(EVENTS)
  if (!isDone) throw new Error(`${events} events left ${found.join(', ')} documents and ${rechecks} rechecks`)
}
