/**
 * Alerts of the whole product with the real recheck delay of one minute. To prove that a refund does not alert, a test waits for
 * the alert about a later refund of the same payment, which has the same partition keys.
 */

import { until } from '@backstop/kit/test'
import type Stripe from 'stripe'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { eventOf, isOpened } from '../setup/customer.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import { minuteProduct } from './shared-products.ts'

const MINUTE_MS = 60_000
/** The longest delay of an alert after the second look is due, on a busy machine. */
const SLACK_MS = 20_000

describe.concurrent('alerts after a minute', () => {
  let product: Product
  const shops: Shop[] = []

  beforeAll(async () => {
    product = minuteProduct.get()
  })

  afterAll(async () => {
    await Promise.all(shops.map(shop => shop.stop()))
  })

  async function openTestShop(outOfBand?: 'auto' | 'alert' | 'ignore'): Promise<Shop> {
    const shop = await openShop(product, { outOfBand })
    shops.push(shop)
    return shop
  }

  /** Refunds the same payment again and waits for the alert. @returns the refunds that have alerted until then */
  async function alertedUpToSentinel(shop: Shop, payment: { paymentIntent: Stripe.PaymentIntent }): Promise<string[]> {
    const sentinel = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 77 })
    await shop.alertAbout(sentinel.id, MINUTE_MS + SLACK_MS)
    return shop.receiver
      .deliveries()
      .filter(isOpened)
      .map(delivery => String(delivery.webhookId))
  }

  describe.concurrent('the first alert', () => {
    test('an unexplained refund alerts once, at least a minute after it was first seen, with both signatures valid', async () => {
      const shop = await openTestShop()
      const payment = shop.pay()
      const refund = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 2499 })
      const madeAt = Date.now()
      const alert = await shop.alertAbout(refund.id, MINUTE_MS + SLACK_MS)
      expect(alert.receivedAtMs - madeAt).toBeGreaterThanOrEqual(MINUTE_MS)
      expect(alert).toMatchObject({ serviceSignature: 'valid', standardWebhook: 'valid' })
      expect(alert.body).toMatchObject({
        event: 'incident.opened',
        project_id: shop.projectId,
        data: {
          incident: { code: 'UNEXPECTED_ACTION', state: 'open' },
          action: { kind: 'refund', provider_ref: refund.id, amount: 2499, currency: 'eur', verdict: 'unexplained' },
        },
      })
      expect(await alertedUpToSentinel(shop, payment)).toHaveLength(2)
      expect(shop.alertsAbout(refund.id)).toHaveLength(1)
      expect(await shop.incidents()).toHaveLength(2)
    })

    test('an explained refund does not alert', async () => {
      const shop = await openTestShop()
      const payment = shop.pay()
      const operation = await shop.report({
        subject: payment.paymentIntent.id,
        amount: 500,
        currency: 'eur',
        state: 'executing',
      })
      const refund = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 500 })
      await shop.api.post(`/v1/operations/${operation.operation_id}/transitions`, {
        to: 'completed',
        provider_ref: refund.id,
      })
      expect(await alertedUpToSentinel(shop, payment)).toHaveLength(1)
      expect(await shop.action(refund.id)).toMatchObject({
        verdict: 'explained',
        reason: 'provider_ref_matches',
        operation_id: operation.operation_id,
      })
    })

    test('a refund that is explained after 30 s does not alert', async () => {
      const shop = await openTestShop()
      const payment = shop.pay()
      const refund = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 600 })
      const seen = await until('the refund', () => shop.action(refund.id))
      const late = Date.parse(seen.first_seen_at) + 30_000
      await until('half of the minute', () => Date.now() >= late, { timeoutMs: MINUTE_MS })
      await shop.report({ subject: payment.paymentIntent.id, amount: 600, currency: 'eur', state: 'completed' })
      expect(await alertedUpToSentinel(shop, payment)).toHaveLength(1)
      expect(await shop.action(refund.id)).toMatchObject({ verdict: 'explained', reason: 'amount_and_time_match' })
    })

    test.each([
      { setting: 'ignore', reason: 'out_of_band_ignore' },
      { setting: 'auto', reason: 'auto_before_first_operation' },
    ] as const)('with out_of_band $setting a refund stays quiet and says why: $reason', async ({ setting, reason }) => {
      const shop = await openTestShop(setting)
      const payment = shop.pay()
      const refund = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 700 })
      await until('the quiet verdict', async () => (await shop.action(refund.id))?.verdict === 'not_alerted', {
        timeoutMs: MINUTE_MS + SLACK_MS,
      })
      await shop.setOutOfBand('alert')
      expect(await alertedUpToSentinel(shop, payment)).toHaveLength(1)
      expect(await shop.action(refund.id)).toMatchObject({ verdict: 'not_alerted', reason })
    })

    test('with out_of_band auto a refund alerts once an operation of the account has executed', async () => {
      const shop = await openTestShop('auto')
      const other = shop.pay()
      await shop.report({ subject: other.paymentIntent.id, amount: 1, currency: 'eur', state: 'executing' })
      const payment = shop.pay()
      const refund = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 800 })
      expect(await shop.alertAbout(refund.id, MINUTE_MS + SLACK_MS)).toBeDefined()
    })

    test('the same event posted three times alerts once', async () => {
      const shop = await openTestShop()
      shop.endpoint.change({ disturbance: { copies: 3 } })
      const payment = shop.pay()
      const refund = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 900 })
      await shop.alertAbout(refund.id, MINUTE_MS + SLACK_MS)
      const posts = shop.endpoint.attempts().filter(attempt => attempt.eventType === 'refund.created')
      expect(posts.map(attempt => attempt.status)).toEqual([200, 200, 200])
      expect(await alertedUpToSentinel(shop, payment)).toHaveLength(2)
    })

    test('two refunds with one operation alert once', async () => {
      const shop = await openTestShop()
      const payment = shop.pay()
      await shop.report({ subject: payment.paymentIntent.id, amount: 1000, currency: 'eur', state: 'executing' })
      const refunds = [1, 2].map(() =>
        shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 1000 }),
      )
      expect(await alertedUpToSentinel(shop, payment)).toHaveLength(2)
      const verdicts = await Promise.all(refunds.map(async refund => (await shop.action(refund.id))?.verdict))
      expect(verdicts.sort()).toEqual(['explained', 'unexplained'])
    })

    test('an account without refund events alerts through charge.refunded', async () => {
      const shop = await openTestShop()
      shop.endpoint.hold()
      const payment = shop.pay()
      shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 1100 })
      await shop.endpoint.release(events => events.filter(event => event.type === 'charge.refunded'))
      const alert = await until('the alert about the charge', () => shop.receiver.deliveries().find(isOpened), {
        timeoutMs: MINUTE_MS + SLACK_MS,
      })
      expect(alert.body).toMatchObject({ data: { action: { provider_ref: null, amount: 1100 } } })
    })

    test('an explanation that comes after the alert resolves the incident and notifies', async () => {
      const shop = await openTestShop()
      const payment = shop.pay()
      const refund = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 1200 })
      await shop.alertAbout(refund.id, MINUTE_MS + SLACK_MS)
      const operation = await shop.report({
        subject: payment.paymentIntent.id,
        amount: 1200,
        currency: 'eur',
        provider_ref: refund.id,
        state: 'completed',
      })
      await until('incident.resolved', () =>
        shop.alertsAbout(refund.id).some(delivery => eventOf(delivery) === 'incident.resolved'),
      )
      expect(await shop.incidents()).toMatchObject([{ state: 'resolved', resolved_by: operation.operation_id }])
    })

    test('an incident shows its timeline: event, second look, incident, alert, attempt', async () => {
      const shop = await openTestShop()
      const payment = shop.pay()
      const refund = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 1300 })
      await shop.alertAbout(refund.id, MINUTE_MS + SLACK_MS)
      const [incident] = await shop.incidents()
      const story = await until('the recorded attempt', async () => {
        const whole = await shop.api.get<{
          timeline: { what: string }[]
          deliveries: { state: string; attempts: object[] }[]
        }>(`/v1/incidents/${incident?.incident_id}`)
        return whole.deliveries[0]?.state === 'delivered' && whole
      })
      expect(story.timeline.map(entry => entry.what)).toEqual(
        expect.arrayContaining(['event_received', 'second_look', 'incident_opened', 'alert_sent']),
      )
      expect(story.deliveries).toMatchObject([
        { state: 'delivered', attempts: [{ attempt: 1, outcome: 'delivered', status: 200 }] },
      ])
    })
  })
})
