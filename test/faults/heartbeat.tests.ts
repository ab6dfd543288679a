/** The heartbeat with real Kafka and MongoDB: it comes back, its absence is reported without Kafka and the notifier, and so is its return. */
import { HEARTBEAT } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { createManagementApi } from '../../scripts/start/management-api.ts'
import { scrape } from '../setup/metrics.ts'
import { ALARM_AFTER_MS, HEARTBEAT_EVERY_MS, ownServers, RECHECK_DELAY_MS } from './own-servers.ts'

/** From the end of the wait to the report, as docs/heartbeat.md promises: one look of the watch, and one request. */
const REPORT_WITHIN_MS = 10_000
const BACK_WITHIN_MS = 90_000

const metrics = () => scrape(ownServers().product.children['admin-api'].opsUrl)
const seen = () => ({ pings: ownServers().pings.length, reports: ownServers().reports })
const pingAfter = (sinceMs: number, timeoutMs = BACK_WITHIN_MS) =>
  until('a heartbeat that comes back', () => ownServers().pings.find(atMs => atMs > sinceMs), {
    timeoutMs,
    everyMs: 100,
    seen,
  })
const reportAfter = (count: number, event: string, timeoutMs: number) =>
  until(
    `the report ${event}`,
    () =>
      ownServers()
        .reports.slice(count)
        .find(report => report.event === event),
    {
      timeoutMs,
      everyMs: 100,
      seen,
    },
  )

/** Takes a part away, and expects the report of the absence in time, and the report of the return. */
async function expectReports(stop: () => Promise<unknown>, bringBack: () => Promise<unknown>, cause: RegExp) {
  const { reports } = ownServers()
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
  const missing = await reportAfter(count, 'heartbeat.missing', ALARM_AFTER_MS + REPORT_WITHIN_MS + HEARTBEAT_EVERY_MS)
  // A heartbeat that was on its way may come back shortly after the part is away.
  expect(missing.atMs - Date.parse(missing.last_returned_at ?? '')).toBeLessThan(ALARM_AFTER_MS + REPORT_WITHIN_MS)
  expect(missing.atMs - downAtMs).toBeGreaterThan(ALARM_AFTER_MS - 2 * RECHECK_DELAY_MS - 2 * HEARTBEAT_EVERY_MS)
  expect(missing.cause).toMatch(cause)
  const silentPings = ownServers().pings.filter(atMs => atMs > missing.atMs)
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
    expect(ownServers().reports).toEqual([])
  })

  test('is in no list, in no sum and in no metric of the installation', async () => {
    const { product } = ownServers()
    const api = createManagementApi(product.urls.admin, product.key)
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
    const { product } = ownServers()
    const api = createManagementApi(product.urls.admin, product.key)
    const { data } = await api.get<{ data: { state: string }[] }>(`/v1/deliveries?project_id=${HEARTBEAT.projectId}`)
    expect(data.length).toBeGreaterThan(0)
  })
})

describe('the absence of the heartbeat is reported, and its return', () => {
  test('with Kafka down', async () => {
    const { kafka } = ownServers().product.stack?.parts ?? {}
    await expectReports(
      async () => kafka?.stop(),
      async () => kafka?.restart(),
      /^Ingress does not accept it: ingress answers 503/,
    )
  })

  test('with the notifier down', async () => {
    const { notifier } = ownServers().product.children
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
    const { mongo } = ownServers().product.stack?.parts ?? {}
    await expectReports(
      async () => mongo?.stop(),
      async () => mongo?.restart(),
      /^MongoDB cannot be read/,
    )
  })
})
