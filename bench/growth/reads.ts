/** Measures reads of the management API on histories of different sizes. */
import { join } from 'node:path'
import { type Product, startProduct } from '../../scripts/start/product.ts'
import { timeCalls } from '../admin/timed-calls.ts'
import type { BenchSurroundings, Comparison } from '../frame/benchmark.ts'
import { percentile } from '../frame/statistics.ts'
import type { Histories } from './histories.ts'

const LOAD = { perSecond: 100, seconds: 5 }
const WARM_UP = { perSecond: 50, seconds: 1 }
const TARGET_P99_MS = 50

const of = 'project_id=prj_1'
const CALLS: Readonly<Record<string, string>> = {
  actions: `/v1/actions?${of}`,
  'unexplained actions': `/v1/actions?${of}&verdict=unexplained`,
  'actions of a connection': '/v1/actions?connection_id=con_1',
  incidents: `/v1/incidents?${of}`,
  'open incidents': `/v1/incidents?${of}&state=open`,
  operations: `/v1/operations?${of}`,
  'search for the beginning of an id': `/v1/search?${of}&q=pi_3t`,
  'search for an amount': `/v1/search?${of}&q=50.00`,
  'search that finds nothing': `/v1/search?${of}&q=no_such_id`,
  'actions of an unknown customer': `/v1/actions?${of}&customer_id=cus_unknown`,
}

export function compareReads(
  histories: Histories,
  surroundings: BenchSurroundings,
  counts: readonly number[],
): Comparison & { stop(): Promise<void> } {
  const products = new Map<number, Promise<Product>>()
  const names = counts.map(count => `${count.toLocaleString('en')} stored`)
  return {
    name: `Reads with ${names.join(', ')}, p99 at ${LOAD.perSecond} a second`,
    readings: Object.fromEntries(Object.keys(CALLS).map(call => [call, 'ms' as const])),
    contenders: counts.map((count, index) => ({ name: names[index]!, measure: () => measure(count) })),
    targets: Object.keys(CALLS).map(reading => ({ reading, of: names.at(-1)!, is: 'at most', value: TARGET_P99_MS })),
    async stop() {
      for (const product of await Promise.all(products.values())) await product.stop()
    },
  }

  async function measure(count: number) {
    const product = products.get(count) ?? startAdmin(count)
    products.set(count, product)
    const { urls, key } = await product
    const readings: Record<string, number> = {}
    for (const [call, path] of Object.entries(CALLS)) {
      await timeCalls(urls.admin + path, key, WARM_UP)
      readings[call] = percentile(await timeCalls(urls.admin + path, key, LOAD), 0.99)
    }
    return readings
  }

  async function startAdmin(count: number): Promise<Product> {
    const { topicPrefix } = await histories.get(count)
    return startProduct({
      dataDir: join(surroundings.folder, `reads-${count}`),
      env: process.env,
      stackUrls: surroundings.stack,
      topicPrefix,
      only: ['admin-api'],
    })
  }
}
