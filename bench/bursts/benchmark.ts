/** Measures how soon a leaked key is reported, beside an even rate of ordinary events. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startProduct } from '../../scripts/start/product.ts'
import { openInstallation } from '../../test/setup/installation/installation.ts'
import { startLoad } from '../../test/setup/installation/load.ts'
import { openShop } from '../../test/setup/shop.ts'
import type { Benchmark } from '../frame/benchmark.ts'
import { percentile } from '../frame/statistics.ts'
import { useLeakedKey } from './leaked-key.ts'

const PER_SECOND = 500
const CONNECTIONS = 100
const WARM_UP_MS = 15_000
const LEAKED_KEYS = 50
const REFUNDS = 50
const ALARM_WITHIN_MS = 30_000
/** Software reports an operation before it asks the provider for the refund. */
const REPORTED_BEFORE_MS = 1_000
const DELAY = 'tenth refund to the first message'

export const burstsBenchmark: Benchmark = {
  name: 'bursts',
  about: `how soon a leaked key is reported, beside ${PER_SECOND} events a second (--rate): ${LEAKED_KEYS} keys in each round`,
  async open({ stack, folder, rate: perSecond = PER_SECOND }) {
    const product = await startProduct({
      dataDir: join(folder, 'bursts'),
      env: process.env,
      stackUrls: stack,
      topicPrefix: `bursts-${Date.now().toString(36)}.`,
    })
    const installation = await openInstallation(product, { twins: false, connections: CONNECTIONS })
    let round = 0

    async function measure() {
      const load = startLoad({
        name: `round${++round}x`,
        perSecond,
        connections: installation.connections,
        targets: () => [product.urls.ingress],
        report: installation.report,
        reportedBeforeMs: REPORTED_BEFORE_MS,
      })
      await sleep(WARM_UP_MS)
      const delays: number[] = []
      for (let key = 0; key < LEAKED_KEYS; key += 1) {
        const shop = await openShop(product, { livemode: true })
        delays.push((await useLeakedKey(shop, REFUNDS, ALARM_WITHIN_MS)).delayMs)
        await shop.stop()
      }
      await load.stop()
      return { [`${DELAY}, p50`]: percentile(delays, 0.5), [`${DELAY}, p99`]: percentile(delays, 0.99) }
    }

    return {
      comparisons: [
        {
          name: `A leaked key at ${perSecond} events a second`,
          readings: { [`${DELAY}, p50`]: 'ms', [`${DELAY}, p99`]: 'ms' },
          contenders: [{ name: 'product', measure }],
          targets: [{ reading: `${DELAY}, p99`, of: 'product', is: 'at most', value: 5_000 }],
        },
      ],
      async stop() {
        await installation.stop()
        await product.stop()
      },
    }
  },
}
