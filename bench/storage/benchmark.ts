/** Measures how many bytes an event takes in each collection, index and topic (docs/storage.md). */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startProduct } from '../../scripts/start/product.ts'
import { openInstallation } from '../../test/setup/installation/installation.ts'
import { startLoad } from '../../test/setup/installation/load.ts'
import { verify } from '../../test/setup/installation/verify.ts'
import { openInspector } from '../../test/setup/product-inspector.ts'
import type { Refund } from '../../test/setup/refunds.ts'
import type { Benchmark, Target } from '../frame/benchmark.ts'
import { readSizes, type Sizes } from './sizes.ts'

const PER_SECOND = 300
const LOAD_MS = 60_000
const MINUTE_MS = 60_000
const IDLE_WITHIN_MS = 180_000
const REPORTED_BEFORE_MS = 1_000
/** What takes less for an event is not shown, but is part of the sums. */
const SHOWN_FROM_BYTES = 5

const READINGS = { mongo: 'MongoDB, all', kafka: 'Kafka, all' } as const
const target = (reading: string, value: number): Target => ({ reading, of: 'product', is: 'at most', value })

export const storageBenchmark: Benchmark = {
  name: 'storage',
  about: 'how many bytes an event takes in each collection, index and topic (--rate)',
  async open({ stack, folder, rate: perSecond = PER_SECOND }) {
    if (process.env.KAFKA_BROKERS) throw new Error('storage reads the files of its own Kafka: unset KAFKA_BROKERS')
    const product = await startProduct({
      dataDir: join(folder, 'storage'),
      env: process.env,
      stackUrls: stack,
      topicPrefix: `storage-${Date.now().toString(36)}.`,
    })
    const installation = await openInstallation(product, { twins: false })
    const inspector = await openInspector(product)
    const kafkaFolder = join(folder, 'stack', 'kafka', 'topics')
    const sizes = () => readSizes(installation.database, kafkaFolder, product.topicPrefix)
    let round = 0

    async function measure() {
      const before = await sizes()
      const load = startLoad({
        name: `storage${++round}x`,
        perSecond,
        connections: installation.connections,
        targets: () => [product.urls.ingress],
        report: installation.report,
        reportedBeforeMs: REPORTED_BEFORE_MS,
        vary,
      })
      await sleep(LOAD_MS)
      await load.stop()
      await sleep(MINUTE_MS)
      await inspector.untilIdle(IDLE_WITHIN_MS)
      // The alerts of earlier rounds would count as needless ones.
      if (round === 1) {
        const { differences } = await verify(installation.database, load.sent, installation.receiver.deliveries())
        if (differences.length > 0) throw new Error(`A promise is broken: ${differences.join(', ')}`)
      }
      return toReadings(before, await sizes(), load.sent.length)
    }

    return {
      comparisons: [
        {
          name: `Bytes for an event at ${perSecond} events a second`,
          readings: { [READINGS.mongo]: 'bytes', [READINGS.kafka]: 'bytes' },
          contenders: [{ name: 'product', measure }],
          targets: [target(READINGS.mongo, 2_200), target(READINGS.kafka, 1_600)],
        },
      ],
      async stop() {
        await inspector.stop()
        await installation.stop()
        await product.stop()
      },
    }
  },
}

/** Prints every part, the largest first. @returns the sums for an event */
function toReadings(before: Sizes, after: Sizes, events: number): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const server of ['mongo', 'kafka'] as const) {
    const parts = Object.entries(after[server]).map(
      ([name, bytes]) => [name, (bytes - (before[server][name] ?? 0)) / events] as const,
    )
    sums[READINGS[server]] = parts.reduce((sum, [, bytes]) => sum + bytes, 0)
    for (const [name, bytes] of parts.toSorted(([, one], [, other]) => other - one)) {
      if (bytes >= SHOWN_FROM_BYTES) process.stdout.write(`${Math.round(bytes).toString().padStart(6)}  ${name}\n`)
    }
  }
  return sums
}

/** Ids, customers and amounts that differ as those of providers do, because alike ones take fewer bytes. */
function vary(refund: Refund): Refund {
  const random = createHash('sha512').update(refund.id).digest()
  const text = random.toString('base64').replaceAll(/[^a-zA-Z0-9]/g, '')
  return {
    ...refund,
    id: text.slice(0, 24),
    customer: `cus_${text.slice(24, 38)}`,
    amount: 100 + (random.readUInt32BE(0) % 20_000),
  }
}
