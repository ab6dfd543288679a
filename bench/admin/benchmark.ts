/** Measures how soon the management API answers reads when much is stored. */
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { startProduct } from '../../scripts/start/product.ts'
import type { Benchmark, Contender } from '../frame/benchmark.ts'
import { percentile } from '../frame/statistics.ts'
import { STORED, type StoredCounts, storeData } from './stored-data.ts'
import { timeCalls } from './timed-calls.ts'

const COUNTS: StoredCounts = { actions: 1_000_000, incidents: 50_000, deliveries: 1_000_000 }
const LOAD = { perSecond: 100, seconds: 5 }
const WARM_UP = { perSecond: 50, seconds: 1 }
const TARGET_P99_MS = 50
const P50 = 'answer, p50'
const P99 = 'answer, p99'

const of = `project_id=${STORED.project}`
/** One call for each kind of read, with the filters that match many and few documents. */
const CALLS: Readonly<Record<string, string>> = {
  actions: `/v1/actions?${of}`,
  'actions of a connection': `/v1/actions?connection_id=${STORED.connection}`,
  'an action': '/v1/actions/act_bench_500000',
  incidents: `/v1/incidents?${of}`,
  'open incidents': `/v1/incidents?${of}&state=open`,
  'an incident': '/v1/incidents/inc_bench_25000',
  deliveries: `/v1/deliveries?${of}`,
  'dead deliveries': `/v1/deliveries?${of}&state=dead`,
  'deliveries of a channel': `/v1/deliveries?channel_id=${STORED.channel}`,
  'a delivery': '/v1/deliveries/dlv_bench_500000',
  'connections of a project': `/v1/projects/${STORED.project}/connections`,
  'search for an id': `/v1/search?${of}&q=pi_bench_500000`,
  'search for the beginning of an id': `/v1/search?${of}&q=re_bench_50`,
  'search for an e-mail address': `/v1/search?${of}&q=c25000@example.com`,
  'search for an amount': `/v1/search?${of}&q=50.00`,
  'stats of a week': `/v1/stats?${of}&from=${STORED.week}T00:00:00Z&to=${STORED.to}T00:00:00Z`,
  'stats of a connection': `/v1/stats?connection_id=${STORED.connection}&from=${STORED.quarter}T00:00:00Z&to=${STORED.to}T00:00:00Z`,
  'stats of a quarter': `/v1/stats?${of}&from=${STORED.quarter}T00:00:00Z&to=${STORED.to}T00:00:00Z`,
  'a statement': `/v1/statements?connection_id=${STORED.connection}&month=${STORED.month}`,
}

export const adminBenchmark: Benchmark = {
  name: 'admin',
  about: `how soon the management API answers reads with ${COUNTS.actions.toLocaleString('en')} actions and deliveries stored`,
  async open({ stack, folder, log }) {
    const product = await startProduct({
      dataDir: join(folder, 'admin'),
      env: process.env,
      stackUrls: stack,
      topicPrefix: `admin-${Date.now().toString(36)}.`,
      only: ['admin-api'],
    })
    const client = new MongoClient(stack.mongo)
    const db = client.db(product.database)
    const step = log.step('stored documents')
    const total = COUNTS.actions + COUNTS.incidents + COUNTS.deliveries
    await storeData(db, COUNTS, inserted =>
      step.update(`${inserted.toLocaleString('en')} of ${total.toLocaleString('en')}`),
    )
    step.done(total.toLocaleString('en'))
    const contenders: Contender[] = Object.entries(CALLS).map(([name, path]) => ({
      name,
      async measure() {
        await timeCalls(`${product.urls.admin}${path}`, product.key, WARM_UP)
        const times = await timeCalls(`${product.urls.admin}${path}`, product.key, LOAD)
        return { [P50]: percentile(times, 0.5), [P99]: percentile(times, 0.99) }
      },
    }))
    return {
      comparisons: [
        {
          name: `Reads at ${LOAD.perSecond} a second`,
          readings: { [P50]: 'ms', [P99]: 'ms' },
          contenders,
          targets: contenders.map(({ name }) => ({
            reading: P99,
            of: name,
            is: 'at most' as const,
            value: TARGET_P99_MS,
          })),
        },
      ],
      async stop() {
        await db.dropDatabase()
        await client.close()
        await product.stop()
      },
    }
  },
}
