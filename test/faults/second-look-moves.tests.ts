/**
 * A second look is a message that Kafka delays by one minute. The reconciler that sent the message is killed after 30 s and
 * another reconciler starts. The second look must still happen after 60 s.
 */

import { until } from '@backstop/kit/test'
import { afterAll, describe, expect, test } from 'vitest'
import { minuteProduct } from '../e2e/shared-products.ts'
import { openShop } from '../setup/shop.ts'

const MINUTE_MS = 60_000
describe('a second look of a killed reconciler', () => {
  const stops: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  test('looks after 60 s although the reconciler was killed after 30 s and another one was started', async () => {
    const product = minuteProduct.get()
    const shop = await openShop(product)
    stops.push(() => shop.stop())
    const refund = shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 2499 })
    const seen = await until('the refund', () => shop.action(refund.id))
    const dueAt = Date.parse(seen.second_look_at ?? '')
    expect(dueAt - Date.parse(seen.first_seen_at)).toBe(MINUTE_MS)
    await until('half of the minute', () => Date.now() >= dueAt - MINUTE_MS / 2, { timeoutMs: MINUTE_MS })

    product.children.reconciler.kill('SIGKILL')
    await product.children.reconciler.exited
    await product.addInstance('reconciler', 'reconciler-elsewhere')

    const alert = await shop.alertAbout(refund.id, MINUTE_MS)
    expect(alert.receivedAtMs).toBeGreaterThanOrEqual(dueAt)
    expect(alert.receivedAtMs - dueAt).toBeLessThan(5_000)
    expect(shop.alertsAbout(refund.id)).toHaveLength(1)
  })
})
