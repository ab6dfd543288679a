/** The heartbeat with real Kafka and MongoDB: it comes back, its absence is reported without Kafka and the notifier, and so is its return. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HEARTBEAT } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createManagementApi, type ManagementApi } from '../../scripts/start/management-api.ts'
import { type Product, startProduct } from '../../scripts/start/product.ts'
import { scrape } from '../setup/metrics.ts'
import { dataFolder } from '../setup/product.ts'

const RECHECK_DELAY_MS = 1_500
const EVERY_MS = 2_000
const ALARM_AFTER_MS = 12_000
/** From the end of the wait to the report, as docs/heartbeat.md promises: one look of the watch, and one request. */
const REPORT_WITHIN_MS = 10_000
const BACK_WITHIN_MS = 90_000

interface Report {
  readonly id: string
  readonly event: string
  readonly text: string
  readonly cause: string
  readonly silent_seconds: number
  readonly last_returned_at: string | null
  readonly atMs: number
}

let product: Product
let api: ManagementApi
let monitor: Server
const reports: Report[] = []
const pings: number[] = []
beforeAll(async () => {
  monitor = createServer((request, response) => {
    let body = ''
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', () => {
      if (request.method === 'GET') pings.push(Date.now())
      else reports.push({ ...(JSON.parse(body) as Report), atMs: Date.now() })
      response.end('ok')
    })
  })
  await new Promise<void>(resolve => monitor.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(monitor.address() as AddressInfo).port}`
  product = await startProduct({
    dataDir: dataFolder('heartbeat'),
    env: { ...process.env, BACKSTOP_STACK: 'embedded' },
    recheckDelayMs: RECHECK_DELAY_MS,
    serviceEnv: {
      'admin-api': {
        HEARTBEAT: 'on',
        HEARTBEAT_EVERY_MS: String(EVERY_MS),
        HEARTBEAT_ALARM_AFTER_MS: String(ALARM_AFTER_MS),
        HEARTBEAT_ALARM_URL: `${url}/alarm`,
        HEARTBEAT_PING_URL: `${url}/ping`,
      },
    },
  })
  api = createManagementApi(product.urls.admin, product.key)
})
afterAll(async () => {
  await product?.stop()
  monitor?.close()
})

const metrics = () => scrape(product.children['admin-api'].opsUrl)
const pingAfter = (sinceMs: number, timeoutMs = BACK_WITHIN_MS) =>
  until('a heartbeat that comes back', () => pings.find(atMs => atMs > sinceMs), {
    timeoutMs,
    everyMs: 100,
    seen: () => ({ pings: pings.length, reports }),
  })
const reportAfter = (count: number, event: string, timeoutMs: number) =>
  until(`the report ${event}`, () => reports.slice(count).find(report => report.event === event), {
    timeoutMs,
    everyMs: 100,
    seen: () => ({ pings: pings.length, reports }),
  })

/** Takes a part away, and expects the report of the absence in time, and the report of the return. */
async function expectReports(stop: () => Promise<unknown>, bringBack: () => Promise<unknown>, cause: RegExp) {
  await pingAfter(Date.now())
  const count = reports.length
  await stop()
  try {
    await expectAbsence(count, Date.now(), cause)
  } finally {
    await bringBack()
  }
  const returned = await reportAfter(count, 'heartbeat.returned', BACK_WITHIN_MS)
  expect(returned.text).toContain('back')
  expect(reports.slice(count).map(({ event }) => event)).toEqual(['heartbeat.missing', 'heartbeat.returned'])
  await pingAfter(returned.atMs)
}

async function expectAbsence(count: number, downAtMs: number, cause: RegExp) {
  const missing = await reportAfter(count, 'heartbeat.missing', ALARM_AFTER_MS + REPORT_WITHIN_MS + EVERY_MS)
  // A heartbeat that was on its way may come back shortly after the part is away.
  expect(missing.atMs - Date.parse(missing.last_returned_at ?? '')).toBeLessThan(ALARM_AFTER_MS + REPORT_WITHIN_MS)
  expect(missing.atMs - downAtMs).toBeGreaterThan(ALARM_AFTER_MS - 2 * RECHECK_DELAY_MS - 2 * EVERY_MS)
  expect(missing.cause).toMatch(cause)
  const silentPings = pings.filter(atMs => atMs > missing.atMs)
  expect((await metrics()).value('heartbeat_age_seconds')).toBeGreaterThanOrEqual(ALARM_AFTER_MS / 1000 - 1)
  expect(silentPings).toEqual([])
}

describe('a heartbeat', () => {
  test('comes back after its second look, and is shown by the metrics', async () => {
    await pingAfter(0, 120_000)
    await pingAfter(Date.now())
    const { value } = await metrics()
    expect(value('heartbeat_round_trip_seconds')).toBeGreaterThanOrEqual(RECHECK_DELAY_MS / 1000)
    expect(value('heartbeat_age_seconds')).toBeLessThan(ALARM_AFTER_MS / 1000)
    expect(value('heartbeat_sends_total', { outcome: 'accepted' })).toBeGreaterThan(0)
    expect(value('heartbeat_pings_total', { outcome: 'sent' })).toBeGreaterThan(0)
    expect(reports).toEqual([])
  })

  test('is in no list, in no sum and in no metric of the installation', async () => {
    const lists = ['projects', 'actions', 'incidents', 'storms', 'deliveries', 'inbox', 'alert-channels', 'operations']
    for (const list of lists) {
      const { data } = await api.get<{ data: unknown[] }>(`/v1/${list}`)
      expect({ list, data }).toEqual({ list, data: [] })
    }
    const dayMs = 86_400_000
    const day = (ms: number) => new Date(ms).toISOString()
    const window = `from=${day(Date.now() - dayMs)}&to=${day(Date.now() + dayMs)}&interval=day`
    const stats = await api.get<{ totals: unknown[] }>(`/v1/stats?${window}`)
    expect(stats.totals).toEqual([])
    const { value } = await metrics()
    expect(value('installation_incidents', { code: 'UNEXPECTED_ACTION', state: 'open' })).toBe(0)
    expect(value('installation_undecided_actions')).toBe(0)
    expect(value('installation_connections', { provider: 'processor', status: 'active' })).toBe(0)
    expect(value('installation_channels', { kind: 'webhook', health: 'ok' })).toBe(0)
    const notifier = await scrape(product.children.notifier.opsUrl)
    expect(notifier.value('alert_e2e_latency_seconds_count', { channel: 'webhook' })).toBe(0)
  })

  test('is found by the id of its project', async () => {
    const { data } = await api.get<{ data: { state: string }[] }>(`/v1/deliveries?project_id=${HEARTBEAT.projectId}`)
    expect(data.length).toBeGreaterThan(0)
  })
})

describe('the absence of the heartbeat is reported, and its return', () => {
  test('with Kafka down', async () => {
    const { kafka } = product.stack?.parts ?? {}
    await expectReports(
      async () => kafka?.stop(),
      async () => kafka?.restart(),
      /^Ingress does not accept it: ingress answers 503/,
    )
  })

  test('with the notifier down', async () => {
    const { notifier } = product.children
    await expectReports(
      () => notifier.stop(30_000),
      async () => {
        notifier.start()
        await notifier.untilReady()
      },
      /^Ingress accepts it/,
    )
  })

  test('with MongoDB down', async () => {
    const { mongo } = product.stack?.parts ?? {}
    await expectReports(
      async () => mongo?.stop(),
      async () => mongo?.restart(),
      /^MongoDB cannot be read/,
    )
  })
})
