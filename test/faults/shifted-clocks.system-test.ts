/**
 * Processes with a wrong clock run beside processes with the right one: a reconciler 120 s ahead, a notifier 600 s ahead, an
 * ingress 600 s behind, and an admin-api 10 s ahead, which would give a connection a later time than its first refunds. Each
 * process must report the error of its clock and must not use the clock.
 */
import { until } from '@backstop/kit/test'
import { createWebhookEndpoint } from '@backstop/simulator'
import { Kafka, logLevel } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import type { ServiceProcess } from '../../scripts/start/service-process.ts'
import { isOpened } from '../setup/customer.ts'
import { openProduct } from '../setup/product.ts'
import { shiftedBy } from '../setup/shifted-clock.ts'
import { openShop, type Shop } from '../setup/shop.ts'

/** Long enough that a busy machine sees and reports all refunds before their second looks. */
const RECHECK_DELAY_MS = 40_000
/** Enough refunds that both reconcilers get some of them, with any assignment of partitions. */
const REFUNDS = 40
const RECONCILER_AHEAD_MS = 120_000
const NOTIFIER_AHEAD_MS = 600_000
const INGRESS_AHEAD_MS = -600_000
const ADMIN_AHEAD_MS = 10_000

let product: Product
let reconciler: ServiceProcess
let ingress: ServiceProcess
const stops: (() => Promise<void>)[] = []

beforeAll(async () => {
  product = await openProduct('shifted', {
    recheckDelayMs: RECHECK_DELAY_MS,
    only: ['ingress', 'reconciler', 'admin-api'],
    serviceEnv: { 'admin-api': shiftedBy(ADMIN_AHEAD_MS), notifier: shiftedBy(NOTIFIER_AHEAD_MS) },
  })
  stops.push(() => product.stop())
  reconciler = await product.createInstance('reconciler', 'reconciler-ahead')
  reconciler.start(shiftedBy(RECONCILER_AHEAD_MS))
  ingress = await product.createInstance('ingress', 'ingress-behind')
  ingress.start(shiftedBy(INGRESS_AHEAD_MS))
  product.children.notifier.start()
  // A process with a wrong clock is never ready, and works all the same.
  for (const { name, opsUrl } of [reconciler, ingress, product.children.notifier]) {
    await until(`${name} answers`, async () => (await fetch(`${opsUrl}/healthz`)).ok, { timeoutMs: 60_000 })
  }
  await untilBothReconcilersWork()
})

afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

async function untilBothReconcilersWork(): Promise<void> {
  const admin = new Kafka({ brokers: product.urls.kafka.split(','), logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const names = ['reconciler', 'reconciler.rechecks'].map(group => product.topicPrefix + group)
  const areShared = async () => {
    const { groups } = await admin.describeGroups(names)
    return groups.every(({ state, members }) => state === 'Stable' && members.length === 2)
  }
  await until('both reconcilers share the partitions', areShared, { everyMs: 200, timeoutMs: 60_000 })
  await admin.disconnect()
}

async function openTestShop(): Promise<Shop> {
  const shop = await openShop(product, { hasBurstAlarm: false })
  stops.push(() => shop.stop())
  return shop
}

/** The value of a metric of a process, summed over its lines with this label. */
async function metricOf(process: ServiceProcess, metric: string, label: string): Promise<number> {
  const lines = (await (await fetch(`${process.opsUrl}/metrics`)).text()).split('\n')
  const found = lines.filter(line => line.startsWith(`${metric}{`) && line.includes(label))
  return found.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), found.length === 0 ? Number.NaN : 0)
}

describe.concurrent('a process with the wrong time', () => {
  test('reconciler, 120 s ahead: does no second look early, and opens no incident for refunds that are explained before it', async () => {
    const shop = await openTestShop()
    const make = (amount: number) => {
      const { paymentIntent } = shop.pay()
      const { id } = shop.processor.refund({ payment_intent: paymentIntent.id, amount })
      return { id, subject: paymentIntent.id, amount, madeAtMs: Date.now() }
    }
    const own = Array.from({ length: REFUNDS }, (_, index) => make(1_000 + index))
    const strange = Array.from({ length: REFUNDS }, (_, index) => make(5_000 + index))
    await until('all are seen', async () => (await shop.actions()).length === 2 * REFUNDS)
    await Promise.all(
      own.map(({ subject, amount }) => shop.report({ subject, amount, currency: 'eur', state: 'completed' })),
    )

    await until('a verdict on each', async () => (await shop.actions()).every(({ verdict }) => verdict !== 'pending'), {
      timeoutMs: 90_000,
    })
    const wrong = (await shop.actions()).filter(
      ({ verdict, amount }) => (verdict === 'explained') !== own.some(refund => refund.amount === amount),
    )
    expect(wrong).toEqual([])
    expect(await shop.incidents()).toHaveLength(REFUNDS)
    for (const { id, madeAtMs } of strange) {
      const alert = await shop.alertAbout(id, 60_000)
      expect(alert.receivedAtMs - madeAtMs).toBeGreaterThanOrEqual(RECHECK_DELAY_MS)
    }
    expect(shop.receiver.deliveries().filter(isOpened)).toHaveLength(REFUNDS)
    // Both reconcilers must have decided first and second looks, because otherwise only the right clock was tested.
    for (const process of [product.children.reconciler, reconciler]) {
      for (const verdict of ['pending', 'unexplained']) {
        const decided = await metricOf(process, 'reconciler_verdicts_total', `verdict="${verdict}"`)
        expect(decided, `actions that ${process.name} found ${verdict}`).toBeGreaterThan(0)
      }
    }
  })

  test('notifier, 600 s ahead: retries a failed delivery when it is due, and signs each attempt with the right time', async () => {
    const shop = await openTestShop()
    const { api, receiver } = shop
    receiver.answerWith(({ number }) => ({ kind: 'answer', status: number === 1 ? 500 : 200 }))
    const { data } = await api.get<{ data: { channel_id: string }[] }>(
      `/v1/alert-channels?project_id=${shop.projectId}`,
    )
    const refund = shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 700 })
    await until('the retry', () => shop.alertsAbout(refund.id).length === 2, { timeoutMs: 90_000 })
    const [first, second] = shop.alertsAbout(refund.id)
    for (const attempt of [first, second]) {
      expect(attempt).toMatchObject({ serviceSignature: 'valid', standardWebhook: 'valid' })
      const signedAtMs = Number(attempt!.headers['webhook-timestamp']) * 1_000
      expect(Math.abs(attempt!.receivedAtMs - signedAtMs)).toBeLessThan(5_000)
    }
    expect(second!.receivedAtMs - first!.receivedAtMs).toBeGreaterThanOrEqual(5_000)
    const channel = data[0]!.channel_id
    const [delivery] = await until('the record', async () => {
      const found = await api.get<{ data: { state: string; created_at: string }[] }>(
        `/v1/deliveries?project_id=${shop.projectId}&channel_id=${channel}`,
      )
      return found.data.every(({ state }) => state === 'delivered') ? found.data : undefined
    })
    expect(Math.abs(Date.parse(delivery!.created_at) - first!.receivedAtMs)).toBeLessThan(30_000)
  })

  test('ingress, 600 s behind: accepts an event signed now, and refuses one signed ten minutes ago', async () => {
    const shop = await openTestShop()
    const path = new URL(shop.connection.inbound_url).pathname
    const postedAt = async (now: () => number) => {
      const credential = { kind: 'processor' as const, secrets: [shop.signingSecret] }
      const endpoint = createWebhookEndpoint({ url: `${ingress.mainUrl}${path}`, credential, now, retryDelaysMs: [] })
      stops.push(() => endpoint.stop())
      const event = await new Promise<Parameters<typeof endpoint.post>[0]>(resolve => {
        const stop = shop.processor.onEvent(event => {
          if (event.type !== 'refund.created') return
          stop()
          resolve(event)
        })
        shop.endpoint.hold()
        shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 300 })
      })
      await endpoint.post(event)
      return endpoint.attempts().map(({ status }) => status)
    }
    expect(await postedAt(Date.now)).toEqual([200])
    expect(await postedAt(() => Date.now() + INGRESS_AHEAD_MS)).toEqual([400])
  })

  test.each([
    {
      name: 'reconciler',
      process: () => reconciler,
      aheadMs: RECONCILER_AHEAD_MS,
      says: '(119.9|120.0|120.1) s ahead of',
    },
    {
      name: 'notifier',
      process: () => product.children.notifier,
      aheadMs: NOTIFIER_AHEAD_MS,
      says: '(599.9|600.0|600.1) s ahead of',
    },
    { name: 'ingress', process: () => ingress, aheadMs: INGRESS_AHEAD_MS, says: '(599.9|600.0|600.1) s behind' },
  ])('$name: /readyz is 503 with the offset and the remedy, and clock_offset_seconds shows it', async row => {
    const process = row.process()
    const ready = await until('the reason', async () => {
      const answer = await fetch(`${process.opsUrl}/readyz`)
      const text = await answer.text()
      return text.includes('clock is') ? { status: answer.status, text } : undefined
    })
    expect(ready.status).toBe(503)
    const remedy =
      "synchronise it by NTP, or that of MongoDB's primary if every process reports this. Time of MongoDB is used meanwhile"
    expect(ready.text).toMatch(new RegExp(`^This host's clock is ${row.says} MongoDB's: ${remedy}\n$`))
    const shown = await metricOf(process, 'clock_offset_seconds', '')
    expect(Math.abs(shown - row.aheadMs / 1_000)).toBeLessThan(1)
    expect(process.lastLogLines(100).join('\n')).toContain('clock.offset_exceeded')
  })

  test('admin-api, 10 s ahead: is ready, and warns', async () => {
    const admin = product.children['admin-api']
    expect((await fetch(`${admin.opsUrl}/readyz`)).status).toBe(200)
    expect(await metricOf(admin, 'clock_offset_seconds', '')).toBeCloseTo(ADMIN_AHEAD_MS / 1_000, 0)
    expect(admin.lastLogLines(100).join('\n')).toContain('clock.offset_exceeded')
  })
})
