/**
 * Two reconciler processes get each of many refunds at the same time: by its event, by a recheck and by a second
 * connection. Each refund must have one action and one alert.
 */

import type { Connection } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { createWebhookEndpoint } from '@backstop/simulator'
import { afterAll, expect, test } from 'vitest'
import type { ServiceProcess } from '../../scripts/start/service-process.ts'
import { isOpened, refOf } from '../setup/customer.ts'
import { openProduct } from '../setup/product.ts'
import { openInspector } from '../setup/product-inspector.ts'
import { openShop } from '../setup/shop.ts'
import { IS_SOAK } from '../setup/soak.ts'

const REFUNDS = IS_SOAK ? 1_000 : 400
const AT_ONCE = 40
const stops: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

test('one action and one alert for each refund that two reconcilers get at the same time', {
  timeout: 300_000,
}, async () => {
  // A short delay, so that second looks and first events overlap.
  const product = await openProduct('two', { recheckDelayMs: 300 })
  stops.push(() => product.stop())
  const reconcilers = [product.children.reconciler, await product.addInstance('reconciler', 'reconciler-2')]
  const inspector = await openInspector(product)
  stops.push(() => inspector.stop())
  const shop = await openShop(product)
  stops.push(() => shop.stop())
  const second = await shop.api.post<Connection & { signing_secret: string }>(
    `/v1/projects/${shop.projectId}/connections`,
    { kind: 'processor', name: 'The same account again', out_of_band: 'alert' },
  )
  const other = createWebhookEndpoint({
    url: second.inbound_url,
    credential: { kind: 'processor', secrets: [second.signing_secret] },
    now: Date.now,
  })
  stops.push(() => other.stop())

  const waiting: Promise<unknown>[] = []
  shop.endpoint.hold()
  shop.processor.onEvent(event => {
    if (!event.type.startsWith('refund.')) return
    // The second connection gets only the charge, so its event has another key and often goes to the other process.
    const object = { ...event.data.object, payment_intent: null }
    waiting.push(other.post({ ...event, data: { ...event.data, object } } as typeof event))
  })
  const ids: string[] = []
  for (let made = 0; made < REFUNDS; made += AT_ONCE) {
    for (let index = 0; index < AT_ONCE; index += 1) {
      ids.push(shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 100 + index }).id)
    }
    const posted = shop.endpoint.release(events => events.filter(event => event.type === 'refund.created'))
    await Promise.all([posted, ...waiting.splice(0)])
    shop.endpoint.hold()
  }

  const alerted = () => shop.receiver.deliveries().filter(isOpened)
  await until('an alert for each refund', () => new Set(alerted().map(refOf)).size === REFUNDS, {
    timeoutMs: 180_000,
    seen: () => alerted().length,
  })
  await inspector.untilIdle(60_000)
  expect(new Set(alerted().map(refOf))).toEqual(new Set(ids))
  expect(alerted()).toHaveLength(REFUNDS)
  expect(await inspector.database.collection('actions').countDocuments({ project_id: shop.projectId })).toBe(REFUNDS)
  expect(await inspector.database.collection('incidents').countDocuments({ project_id: shop.projectId })).toBe(REFUNDS)
  const seenTwice = { project_id: shop.projectId, 'connection_ids.1': { $exists: true } }
  expect(await inspector.database.collection('actions').countDocuments(seenTwice)).toBe(REFUNDS)
  // Both reconcilers must have decided first and second looks, because otherwise there was no race.
  for (const reconciler of reconcilers) {
    for (const verdict of ['pending', 'unexplained']) {
      const decided = await countOf(reconciler, 'reconciler_verdicts_total', `verdict="${verdict}"`)
      expect(decided, `actions that ${reconciler.name} found ${verdict}`).toBeGreaterThan(0)
    }
  }
  const conflicts = await Promise.all(reconcilers.map(one => countOf(one, 'reconciler_conflicts_total', '')))
  expect(
    conflicts[0]! + conflicts[1]!,
    'writes that failed because the other process had written first',
  ).toBeGreaterThan(0)
})

/** The value of a metric of a process, summed over its lines with this label. */
async function countOf(process: ServiceProcess, metric: string, label: string): Promise<number> {
  const lines = (await (await fetch(`${process.opsUrl}/metrics`)).text()).split('\n')
  const counted = lines.filter(line => line.startsWith(`${metric}{`) && line.includes(label))
  return counted.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
