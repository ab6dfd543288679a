/** The metrics of all services: those that docs/metrics.md lists, with the true numbers. */
import type { AlertChannel } from '@backstop/channels'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { type Scrape, scrape } from '../setup/metrics.ts'
import { readMetricsPage } from '../setup/metrics-page.ts'
import { openInspector, type ProductInspector } from '../setup/product-inspector.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import { tracedProduct } from './traced-product.ts'

const SERVICES = ['ingress', 'reconciler', 'notifier', 'admin-api'] as const
type Service = (typeof SERVICES)[number]
/** Longer than admin-api waits between two readings of the installation's state. */
const WITHIN_MS = 60_000

let product: Product
let inspector: ProductInspector
let shop: Shop

const scrapeOf = (service: Service) => scrape(product.children[service].opsUrl)

/** Resolves with the metrics of a service when `isTrue` of them. */
const untilMetrics = (what: string, service: Service, isTrue: (metrics: Scrape) => boolean) =>
  until(
    what,
    async () => {
      const metrics = await scrapeOf(service)
      return isTrue(metrics) ? metrics : undefined
    },
    { timeoutMs: WITHIN_MS, everyMs: 1_000 },
  )

describe('after an unexplained refund, a dead letter and a disabled channel', () => {
  beforeAll(async () => {
    product = tracedProduct().product
    inspector = await openInspector(product)
    shop = await openShop(product)
    const { projectId, api, receiver } = shop
    const refund = shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 700 })
    await shop.alertAbout(refund.id, WITHIN_MS)
    await inspector.produce('operations', 'unreadable', Buffer.from('no message'))
    receiver.answerWith(() => ({ kind: 'answer', status: 410, body: 'answered 410' }))
    const other = shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 800 })
    await until(
      'the channel to be disabled',
      async () => {
        const { data } = await api.get<{ data: AlertChannel[] }>(`/v1/alert-channels?project_id=${projectId}`)
        return data.some(({ health }) => health.state === 'disabled')
      },
      { timeoutMs: WITHIN_MS, seen: () => other.id },
    )
  })
  afterAll(async () => {
    await shop?.stop()
    await inspector?.stop()
  })

  test.each(SERVICES)(
    '%s shows the metrics of docs/metrics.md, with their types and labels, and no others',
    async service => {
      const documented = readMetricsPage().filter(({ services }) => services.includes(service))
      const { families } = await scrapeOf(service)
      expect([...families.keys()].toSorted()).toEqual(documented.map(({ name }) => name).toSorted())
      for (const { name, type, labels } of documented) {
        const family = families.get(name)
        expect({ name, type: family?.type }).toEqual({ name, type })
        expect(labels, `the labels of ${name}`).toEqual(expect.arrayContaining([...(family?.labels ?? [])]))
      }
    },
  )

  test.each(SERVICES)('%s shows that the schema registry has answered', async service => {
    await untilMetrics('the answer', service, ({ value }) => value('schema_registry_answered') === 1)
  })

  test('the installation has two open incidents of the refunds, one of the channel, and the dead letters', async () => {
    const metrics = await untilMetrics('the incident of the channel', 'admin-api', ({ value }) => {
      const disabled = value('installation_incidents', { code: 'CHANNEL_DISABLED', state: 'open' })
      const letters = value('installation_dead_letters', { topic: 'operations' })
      return disabled === 1 && letters === 1 && value('installation_undecided_actions') === 0
    })
    const shown = (name: string, labels?: Record<string, string>) => metrics.value(`installation_${name}`, labels)
    expect(shown('incidents', { code: 'UNEXPECTED_ACTION', state: 'open' })).toBe(2)
    expect(shown('second_looks_overdue')).toBe(0)
    expect(shown('undecided_oldest_seconds')).toBe(0)
    expect(shown('storms_open')).toBe(0)
    expect(shown('connections', { provider: 'processor', status: 'active' })).toBe(1)
    const { data: dead } = await shop.api.get<{ data: unknown[] }>(
      `/v1/deliveries?state=dead&project_id=${shop.projectId}`,
    )
    expect(dead.length).toBeGreaterThan(0)
    expect(shown('dead_letters', { topic: 'deliveries' })).toBe(dead.length)
    expect(shown('deliveries', { state: 'dead' })).toBe(dead.length)
    expect(shown('channels', { kind: 'webhook', health: 'disabled' })).toBe(1)
    expect(shown('connections_key_rejected')).toBe(0)
    expect(shown('outbox_documents', { collection: 'subjects' })).toBe(0)
    expect(metrics.value('installation_read_failures_total')).toBe(0)
  })

  test('each service counts its part', async () => {
    const ingress = await scrapeOf('ingress')
    const received = ingress.value('ingress_webhooks_total', { provider: 'processor', result: 'received' }) ?? 0
    expect(received).toBeGreaterThanOrEqual(2)
    const route = '/v1/webhooks/processor/{connection_id}'
    expect(ingress.value('http_server_request_duration_seconds_count', { route, status: '200' })).toBe(received)
    expect(ingress.value('ingress_connections')).toBe(1)

    const reconciler = await scrapeOf('reconciler')
    const [atMost, count] = [
      reconciler.value('reconciler_verdict_seconds_bucket', { provider: 'processor', le: '30' }),
      reconciler.value('reconciler_verdict_seconds_count', { provider: 'processor' }),
    ]
    expect([atMost, count]).toEqual([2, 2])
    expect(reconciler.value('reconciler_verdict_seconds_bucket', { provider: 'processor', le: '1' })).toBe(0)
    expect(reconciler.value('dead_letters_total', { topic: 'operations' })).toBe(1)
    expect(reconciler.value('kafka_partitions_assigned', { group: 'reconciler.rechecks' })).toBe(3)
    expect(
      reconciler.value('mongo_command_duration_seconds_count', { command: 'find', outcome: 'succeeded' }),
    ).toBeGreaterThan(0)

    const notifier = await scrapeOf('notifier')
    expect(notifier.value('alert_e2e_latency_seconds_count', { channel: 'webhook' })).toBe(1)
    // The delay of the second look is part of it.
    expect(notifier.value('alert_e2e_latency_seconds_bucket', { channel: 'webhook', le: '1' })).toBe(0)
    expect(notifier.value('alert_e2e_latency_seconds_bucket', { channel: 'webhook', le: '60' })).toBe(1)
    expect(notifier.value('endpoint_disabled_total', { channel: 'webhook' })).toBe(1)
    const probes = { route: '/readyz', status: '200' }
    expect(notifier.value('http_server_request_duration_seconds_count', probes)).toBeGreaterThan(0)
  })

  test('no message is unread when all are processed', async () => {
    const labels = { group: 'reconciler', topic: 'inbound.processor' }
    await untilMetrics('no lag', 'reconciler', ({ value }) => value('kafka_consumer_lag', labels) === 0)
    expect((await scrapeOf('reconciler')).value('kafka_oldest_unread_seconds', labels)).toBe(0)
    expect((await scrapeOf('admin-api')).value('kafka_lag_reading_failures_total')).toBe(0)
  })
})
