/** Measures how soon the product has caught up after an outage of one of its parts, while new events arrive. */
import { join } from 'node:path'
import { startProduct } from '../../scripts/start/product.ts'
import { openInstallation } from '../../test/setup/installation/installation.ts'
import { UNEXPLAINED_ONE_IN } from '../../test/setup/installation/load.ts'
import { removeData } from '../../test/setup/product.ts'
import type { Benchmark, BenchSurroundings, Target } from '../frame/benchmark.ts'
import { measureOutage, REPEATED } from './measure.ts'
import { OUTAGES, type Outage } from './outages.ts'
import { ALERTED, JUDGED, unitsOf } from './readings.ts'

const PER_SECOND = 500
const OUTAGE_MS = 240_000
/** An hour of outage is caught up in ten minutes. */
const OUTAGE_TO_CATCHING_UP = 6
/** Providers repeat an hour of events in twenty minutes, so with Kafka the product has this much longer than the repeats take. */
const LONGER_THAN_REPEATS = 1.1
/** Ten unexplained actions of one connection within five minutes are a storm. */
const UNEXPLAINED_OF_CONNECTION = 9
/** New events of a run, in milliseconds of the normal rate: while the product catches up, and two minutes of second looks. */
const NEW_EVENTS_MS = 240_000

export const catchUpBenchmark: Benchmark = {
  name: 'catch-up',
  about: `how soon the product has caught up after ${OUTAGE_MS / 60_000} minutes without one of its parts, at ${PER_SECOND} events a second (--rate)`,
  async open(surroundings) {
    if (process.env.KAFKA_BROKERS || process.env.MONGO_URL) {
      throw new Error('catch-up stops its own Kafka and MongoDB: unset KAFKA_BROKERS and MONGO_URL')
    }
    return {
      comparisons: OUTAGES.map(outage => ({
        name: `Catching up after an outage: ${outage.name}`,
        readings: unitsOf(outage.waitsFor !== 'alert'),
        contenders: [{ name: 'product', measure: () => measureOnNewProduct(outage, surroundings) }],
        targets: targetsOf(outage),
      })),
      stop: async () => {},
    }
  },
}

/** Each outage has a product of its own, so that it does not find the stored actions of the others. */
async function measureOnNewProduct(outage: Outage, surroundings: BenchSurroundings) {
  const { stack, parts, folder, log, rate: perSecond = PER_SECOND } = surroundings
  const topicPrefix = `catch-up-${Date.now().toString(36)}.`
  const product = await startProduct({
    dataDir: join(folder, topicPrefix),
    env: process.env,
    stackUrls: stack,
    topicPrefix,
  })
  try {
    const unexplained = (perSecond * (OUTAGE_MS + NEW_EVENTS_MS)) / 1_000 / UNEXPLAINED_ONE_IN
    const connections = Math.max(10, Math.ceil(unexplained / UNEXPLAINED_OF_CONNECTION))
    const installation = await openInstallation(product, { twins: false, connections })
    try {
      return await measureOutage(outage, { product, stack: parts, installation, perSecond, outageMs: OUTAGE_MS, log })
    } finally {
      await installation.stop()
    }
  } finally {
    await product.stop()
    await removeData(product)
  }
}

function targetsOf({ waitsFor }: Outage): Target[] {
  const seconds = OUTAGE_MS / 1_000
  const value = waitsFor === 'acceptance' ? (seconds / REPEATED) * LONGER_THAN_REPEATS : seconds / OUTAGE_TO_CATCHING_UP
  const readings = waitsFor === 'alert' ? [ALERTED] : [JUDGED, ALERTED]
  return readings.map(reading => ({ reading, of: 'product', is: 'at most', value }))
}
