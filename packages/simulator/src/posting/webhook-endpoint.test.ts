import Stripe from 'stripe'
import { afterEach, expect, test } from 'vitest'
import { createChance } from '../chance.ts'
import { createCardProcessor } from '../processor/account.ts'
import { type Receiver, startReceiver } from '../receiver/receiver.ts'
import { createWebhookEndpoint, type WebhookEndpoint, type WebhookEndpointOptions } from './webhook-endpoint.ts'

const open: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop()
})

async function setUp(options: Partial<WebhookEndpointOptions> = {}) {
  const inbound: Receiver = await startReceiver({ now: Date.now })
  const endpoint: WebhookEndpoint = createWebhookEndpoint({
    url: `${inbound.url}/v1/webhooks/processor/con_1`,
    credential: { kind: 'processor', secrets: ['whsec_test'] },
    now: Date.now,
    chance: createChance(5),
    retryDelaysMs: [5, 5, 5],
    ...options,
  })
  open.push(endpoint, inbound)
  const processor = createCardProcessor({ now: Date.now, chance: createChance(5) })
  endpoint.follow(processor)
  const { charge } = processor.createPayment({ amount: 10_000, currency: 'eur' })
  return { inbound, endpoint, processor, charge }
}

test('an endpoint posts the events it subscribed to, signed so that the official library accepts them', async () => {
  const { inbound, endpoint, processor, charge } = await setUp()
  const refund = processor.refund({ charge: charge.id, amount: 100 })
  await endpoint.idle()
  const events = inbound.deliveries().map(({ rawBody, headers }) => {
    const header = headers['processor-signature'] ?? ''
    return Stripe.webhooks.constructEvent(rawBody, header, 'whsec_test')
  })
  expect(events.map(event => event.type).sort()).toEqual(['charge.refunded', 'refund.created'])
  expect(events.find(event => event.type === 'refund.created')?.data.object).toEqual(refund)
  expect(endpoint.attempts().map(attempt => attempt.status)).toEqual([200, 200])
})

test('posts a refused event again, with the same id, until it is accepted', async () => {
  const { inbound, endpoint, processor, charge } = await setUp({ events: ['refund.created'] })
  inbound.answerWith(({ number }) => ({ kind: 'answer', status: number < 3 ? 503 : 200 }))
  processor.refund({ charge: charge.id })
  await endpoint.idle()
  expect(endpoint.attempts().map(({ attempt, status }) => [attempt, status])).toEqual([
    [1, 503],
    [2, 503],
    [3, 200],
  ])
  expect(new Set(endpoint.attempts().map(attempt => attempt.eventId)).size).toBe(1)
})

test('stops when its retries are used up, and records why', async () => {
  const { inbound, endpoint, processor, charge } = await setUp({ events: ['refund.created'] })
  inbound.answerWith(() => ({ kind: 'cut' }))
  processor.refund({ charge: charge.id })
  await endpoint.idle()
  expect(endpoint.attempts()).toHaveLength(4)
  expect(endpoint.attempts().at(-1)).toMatchObject({ status: null, answer: expect.stringMatching(/fetch failed/) })
})

test('posts as many copies, and drops as many events, as requested', async () => {
  const { inbound, endpoint, processor, charge } = await setUp({
    events: ['refund.created'],
    disturbance: { copies: 3 },
  })
  processor.refund({ charge: charge.id, amount: 100 })
  await endpoint.idle()
  expect(inbound.deliveries()).toHaveLength(3)
  endpoint.change({ disturbance: { dropRate: 1 } })
  processor.refund({ charge: charge.id, amount: 100 })
  await endpoint.idle()
  expect(inbound.deliveries()).toHaveLength(3)
})

test('posts held events in the order that the test chooses', async () => {
  const { inbound, endpoint, processor, charge } = await setUp({ events: ['refund.created', 'refund.updated'] })
  endpoint.hold()
  const refund = processor.refund({ charge: charge.id, status: 'pending' })
  processor.settleRefund(refund.id, { status: 'succeeded' })
  await endpoint.release(events => events.reverse())
  const types = inbound.deliveries().map(({ body }) => (body as Stripe.Event).type)
  expect(types).toEqual(['refund.updated', 'refund.created'])
})

test('cancels waiting retries when it is stopped', async () => {
  const { inbound, endpoint, processor, charge } = await setUp({
    events: ['refund.created'],
    retryDelaysMs: [3_600_000],
  })
  inbound.answerWith(() => ({ kind: 'answer', status: 500 }))
  processor.refund({ charge: charge.id })
  await inbound.waitFor('the first attempt', () => true, 2_000)
  await endpoint.stop()
  expect(endpoint.attempts()).toHaveLength(1)
})
