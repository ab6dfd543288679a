/**
 * Kafka and then MongoDB stops and starts again while the product runs, and no service is restarted. The registry of the services
 * accepts connections and never answers.
 */
import { until } from '@backstop/kit/test'
import { postNotification } from '@backstop/simulator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { SERVICES } from '../../scripts/start/service-environment.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import { ownServers } from './own-servers.ts'

let product: Product
let shop: Shop

const pids = () => product.processes().map(process => process.pid)

/** Posts a signed notification once. */
function postOnce(eventId: string) {
  return postNotification({
    url: shop.connection.inbound_url,
    body: { id: eventId, object: 'event', type: 'customer.created', created: Math.floor(Date.now() / 1000) },
    credential: { kind: 'processor', secrets: [shop.signingSecret] },
    now: Date.now,
  })
}

describe('a product whose registry hangs', () => {
  beforeAll(async () => {
    product = ownServers().product
    shop = await openShop(product)
  })
  afterAll(async () => {
    await shop?.stop()
  })

  test('a registry that hangs does not delay the start of any service', async () => {
    const startedAt = performance.now()
    const started = await Promise.all(SERVICES.map(service => product.addInstance(service, `${service}-second`)))
    // Nine questions of five seconds each would take longer, also on a busy machine.
    expect(performance.now() - startedAt).toBeLessThan(40_000)
    for (const { name, opsUrl } of started) {
      const metrics = await (await fetch(`${opsUrl}/metrics`)).text()
      expect(metrics, name).toMatch(/^schema_registry_answered\{service="[a-z-]+"\} 0$/m)
    }
    await Promise.all(started.map(instance => instance.stop(30_000)))
  })

  describe('a dependency that stops and starts again', () => {
    test('Kafka down: 503 with Retry-After within 3 s; up again: everything continues without a restart', async () => {
      const before = pids()
      const payment = shop.pay()
      const first = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 100 })
      await shop.alertAbout(first.id, 30_000)

      await product.stack?.parts.kafka.stop()
      for (let round = 0; round < 3; round += 1) {
        const askedAt = performance.now()
        const answer = await postOnce(`evt_away_${round}`)
        expect(performance.now() - askedAt).toBeLessThan(3_000)
        expect(answer.status).toBe(503)
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
        expect(JSON.parse(answer.body)).toMatchObject({ status: 503 })
      }
      const during = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 200 })
      await until('a refused post', () => shop.endpoint.attempts().some(attempt => attempt.status === 503))

      await product.stack?.parts.kafka.restart()
      await shop.alertAbout(during.id, 90_000)
      expect(pids()).toEqual(before)
    })

    test('MongoDB down: events of known connections are accepted, a new ingress answers 503; up again: everything catches up', async () => {
      const before = pids()
      const payment = shop.pay()
      const first = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 100 })
      await shop.alertAbout(first.id, 30_000)

      await product.stack?.parts.mongo.stop()
      const downAt = Date.now()
      expect((await postOnce('evt_mongo_away')).status).toBe(200)
      const during = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 200 })
      await until('the refund to be taken in', () =>
        shop.endpoint
          .attempts()
          .some(attempt => attempt.eventType === 'refund.created' && attempt.atMs >= downAt && attempt.status === 200),
      )
      const cold = product.addInstance('ingress', 'ingress-cold')
      cold.catch(() => {})
      const coldUrl = await until('the cold ingress to listen', async () => {
        const process = product.processes().find(other => other.name === 'ingress-cold')
        return process?.mainUrl
      })
      const answer = await until('an answer of the cold ingress', () =>
        postNotification({
          url: shop.connection.inbound_url.replace(product.urls.ingress, coldUrl),
          body: { id: 'evt_cold', object: 'event', type: 'customer.created' },
          credential: { kind: 'processor', secrets: [shop.signingSecret] },
          now: Date.now,
        }),
      )
      expect(answer.status).toBe(503)
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)

      await product.stack?.parts.mongo.restart()
      await shop.alertAbout(during.id, 90_000)
      await cold
      expect(pids().slice(0, 4)).toEqual(before.slice(0, 4))
    })
  })
})
