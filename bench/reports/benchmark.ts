/** Measures how many reports of operations one admin-api process stores per second, and how soon it answers them. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { COLLECTIONS, type CollectionDefinition } from '@backstop/contracts'
import { MongoClient } from 'mongodb'
import { Agent } from 'undici'
import { createManagementApi } from '../../scripts/start/management-api.ts'
import { startProduct } from '../../scripts/start/product.ts'
import { cpuMsOf } from '../../test/setup/metrics.ts'
import type { Benchmark, Contender } from '../frame/benchmark.ts'
import { mongoCpuMs } from '../frame/mongo-cpu.ts'
import { percentile } from '../frame/statistics.ts'
import { type ReportLoad, reportEvenly, reportInBatches, reportInTurn, type Target, writeInTurn } from './load.ts'

/** Keep-alive connections, each with one call in flight. */
const SOCKETS = 300
const WARM_UP_MS = 5_000
const MEASURE_MS = 8_000
const EVEN = { perSecond: 300, seconds: 8 }
/** As many calls as warm up the other loads. */
const EVEN_WARM_UP_S = 20
const BATCHES = { senders: 2, items: 1_000 }
const CHAIN_POLL_MS = 500
const CALLS = 'calls'
const P50 = 'answer, p50'
const P99 = 'answer, p99'
const CPU_API = 'processor time of admin-api for one'
const CPU_MONGO = 'processor time of MongoDB for one'

export const reportsBenchmark: Benchmark = {
  name: 'reports',
  about: `how many reports of operations, of three calls each, one admin-api process stores, from ${SOCKETS} connections`,
  async open({ stack, folder }) {
    const noLimit = { RATE_LIMIT_PER_KEY: '10000000', RATE_LIMIT_PER_ADDRESS: '10000000' }
    const product = await startProduct({
      dataDir: join(folder, 'reports'),
      env: process.env,
      stackUrls: stack,
      topicPrefix: `reports-${Date.now().toString(36)}.`,
      only: ['admin-api'],
      serviceEnv: { 'admin-api': noLimit },
    })
    // As connectMongo of the services writes.
    const client = new MongoClient(stack.mongo, { writeConcern: { w: 'majority', journal: true }, maxPoolSize: 20 })
    const db = client.db(product.database)
    const api = createManagementApi(product.urls.admin, product.key)
    const { project_id } = await api.post<{ project_id: string }>('/v1/projects', { name: 'Bench' })
    const path = `/v1/projects/${project_id}/connections`
    const { connection_id } = await api.post<{ connection_id: string }>(path, {
      kind: 'processor',
      name: 'Bench',
    })
    const agent = new Agent({ connections: SOCKETS, pipelining: 1 })
    const target: Target = { agent, url: product.urls.admin, key: product.key, connectionId: connection_id }
    const opsUrl = product.children['admin-api'].opsUrl

    /** Measures a load, and the processor time of admin-api and MongoDB for each of its calls. */
    async function measure(load: ReportLoad): Promise<Record<string, number>> {
      const [api, mongo] = [await cpuMsOf(opsUrl), await mongoCpuMs(db)]
      const { timesMs, tookMs } = await load
      const usedUs = (before: number, now: number) => ((now - before) * 1_000) / timesMs.length
      return {
        [CALLS]: (timesMs.length / tookMs) * 1_000,
        [P50]: percentile(timesMs, 0.5),
        [P99]: percentile(timesMs, 0.99),
        [CPU_API]: usedUs(api, await cpuMsOf(opsUrl)),
        [CPU_MONGO]: usedUs(mongo, await mongoCpuMs(db)),
      }
    }
    const readings = { [CALLS]: '/s', [P50]: 'ms', [P99]: 'ms', [CPU_API]: 'µs', [CPU_MONGO]: 'µs' } as const
    const single: Contender = {
      name: 'single calls',
      async measure() {
        await reportInTurn(target, { sockets: SOCKETS, forMs: WARM_UP_MS })
        return measure(reportInTurn(target, { sockets: SOCKETS, forMs: MEASURE_MS }))
      },
    }
    const alone = db.collection<{ _id: string; state: string }>('bench_writes')
    const { indexes }: CollectionDefinition = COLLECTIONS.operations
    for (const { keys, options } of indexes) await alone.createIndex(keys, options ?? {})
    const reference: Contender = {
      name: 'bare writes',
      async measure() {
        await writeInTurn(alone, { sockets: SOCKETS, forMs: WARM_UP_MS })
        return measure(writeInTurn(alone, { sockets: SOCKETS, forMs: MEASURE_MS }))
      },
    }
    const even: Contender = {
      name: `${EVEN.perSecond} a second`,
      async measure() {
        // The rows of the loads before join the chain of the audit for minutes, which is no even load.
        const audit = db.collection('audit')
        while ((await audit.countDocuments({ unchained: true }, { limit: 1 })) > 0) await sleep(CHAIN_POLL_MS)
        await reportEvenly(target, { ...EVEN, seconds: EVEN_WARM_UP_S })
        return measure(reportEvenly(target, EVEN))
      },
    }
    const batches: Contender = {
      name: `batches of ${BATCHES.items.toLocaleString('en')}`,
      async measure() {
        await reportInBatches(target, { ...BATCHES, forMs: WARM_UP_MS })
        return measure(reportInBatches(target, { ...BATCHES, forMs: MEASURE_MS }))
      },
    }
    return {
      comparisons: [
        {
          name: 'As many calls as possible',
          readings,
          contenders: [single, reference],
          targets: [{ reading: CALLS, of: single.name, is: 'at least', value: 1_500 }],
        },
        {
          name: 'Batches',
          readings,
          contenders: [batches, reference],
          targets: [{ reading: CALLS, of: batches.name, is: 'at least', value: 5_000 }],
        },
        {
          name: 'An even load',
          readings,
          contenders: [even],
          targets: [{ reading: P99, of: even.name, is: 'at most', value: 50 }],
        },
      ],
      async stop() {
        await agent.destroy()
        await db.dropDatabase()
        await client.close()
        await product.stop()
      },
    }
  },
}
