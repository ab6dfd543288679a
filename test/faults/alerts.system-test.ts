/** A real Prometheus with the rules of deploy/monitoring scrapes the product. Faults are planted, and their alerts fire. */
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { connectProcessor } from '../setup/accounts.ts'
import { openCustomer } from '../setup/customer.ts'
import { dataFolder, openProduct } from '../setup/product.ts'
import { openInspector, type ProductInspector } from '../setup/product-inspector.ts'
import { type FiringAlert, startPrometheus, type TestPrometheus } from '../setup/prometheus.ts'
import { shiftedBy } from '../setup/shifted-clock.ts'
import { openShop, type Shop } from '../setup/shop.ts'

const SERVICES = ['ingress', 'reconciler', 'notifier', 'admin-api'] as const
/** Long enough to end a process while an action waits for its second look. */
const RECHECK_DELAY_MS = 6_000
const WITHIN_MS = 90_000
/** A storm begins with the tenth action. */
const REFUNDS = 12

let product: Product
let inspector: ProductInspector
let prometheus: TestPrometheus
const stops: (() => Promise<void>)[] = []

beforeAll(async () => {
  product = await openProduct('alerts', {
    recheckDelayMs: RECHECK_DELAY_MS,
    serviceEnv: { reconciler: { SWEEP_EVERY_MS: '5000' } },
  })
  stops.push(() => product.stop())
  inspector = await openInspector(product)
  stops.push(() => inspector.stop())
  const ahead = await product.createInstance('notifier', 'notifier-ahead')
  const targets = [...SERVICES.map(name => product.children[name].opsUrl), ahead.opsUrl]
  prometheus = await startPrometheus(targets, dataFolder('prometheus'))
  stops.push(() => prometheus.stop())
  await until('four services to be scraped', async () => (await prometheus.query('backstop_build_info')).length === 4, {
    timeoutMs: WITHIN_MS,
  })
  // Before the first scrape every service is absent.
  const isAbsence = ({ labels }: FiringAlert) => /ServiceDown|StateUnknown/.test(labels.alertname ?? '')
  await until('no service to be absent', async () => !(await prometheus.firing()).some(isAbsence), {
    timeoutMs: WITHIN_MS,
    everyMs: 1_000,
  })
  ahead.start(shiftedBy(5_000))
})

afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

async function openTestShop(): Promise<Shop> {
  const shop = await openShop(product)
  stops.push(() => shop.stop())
  return shop
}

const refund = (shop: Shop) => shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 700 })
const answering410 = () => ({ kind: 'answer' as const, status: 410, body: 'answered 410' })

describe('the alert fires for', () => {
  test('a host whose clock is 5 seconds ahead', async () => {
    const { labels } = await prometheus.untilFiring('BackstopClockWrong', WITHIN_MS)
    expect(labels).toMatchObject({ service: 'notifier', severity: 'ticket' })
  })

  test('a message that cannot be read', async () => {
    await inspector.produce('operations', 'unreadable', Buffer.from('no message'))
    const { labels } = await prometheus.untilFiring('BackstopDeadLetters', WITHIN_MS)
    expect(labels.topic).toBe('operations')
  })

  test('a second one, while the first waits for its replay', async () => {
    await inspector.produce('operations', 'unreadable', Buffer.from('no message either'))
    const { labels } = await prometheus.untilFiring('BackstopDeadLettersGrow', WITHIN_MS)
    expect(labels.topic).toBe('operations')
  })

  test('a read key that the provider refuses', async () => {
    const customer = await openCustomer(product)
    stops.push(() => customer.stop())
    const cards = await connectProcessor(customer, { outOfBand: 'alert' })
    stops.push(() => cards.stop())
    const path = `/v1/projects/${customer.projectId}/connections/${cards.connection.connection_id}`
    await customer.api.patch(path, { ...cards.readAccess, read_key: 'a-key-that-was-revoked' })
    await prometheus.untilFiring('BackstopReadKeyRejected', WITHIN_MS)
  })

  test('a receiver that refuses permanently', async () => {
    const shop = await openTestShop()
    shop.receiver.answerWith(answering410)
    refund(shop)
    const { labels } = await prometheus.untilFiring('BackstopChannelDisabled', WITHIN_MS)
    expect(labels.kind).toBe('webhook')
  })

  test('a storm', async () => {
    const shop = await openTestShop()
    for (let count = 0; count < REFUNDS; count++) refund(shop)
    await prometheus.untilFiring('BackstopStormOpen', WITHIN_MS)
  })

  test('a reconciler that ends while an action waits for its second look', async () => {
    const shop = await openTestShop()
    const { id } = refund(shop)
    await until('the action to wait', async () => (await shop.action(id))?.verdict === 'pending', {
      timeoutMs: WITHIN_MS,
      everyMs: 100,
    })
    product.children.reconciler.kill('SIGKILL')
    const down = await prometheus.untilFiring('BackstopServiceDown', WITHIN_MS)
    expect(down.labels.service).toBe('reconciler')
    expect(down.annotations.runbook_url).toBe('docs/runbooks/BackstopServiceDown.md')
    await prometheus.untilFiring('BackstopSecondLooksOverdue', WITHIN_MS)
  })
})
