/** The official libraries accept the simulated events, and the providers' APIs report their delivery. */
import { Paddle } from '@paddle/paddle-node-sdk'
import Chargebee, { basicAuthValidator, type WebhookEvent } from 'chargebee'
import { afterEach, expect, test } from 'vitest'
import { createBiller } from '../biller/account.ts'
import { startBillerApi } from '../biller/api/server.ts'
import type { BillerEvent } from '../biller/events.ts'
import { createChance } from '../chance.ts'
import { createCardProcessor } from '../processor/account.ts'
import { startProcessorApi } from '../processor/api/server.ts'
import { type Receiver, startReceiver } from '../receiver/receiver.ts'
import { createReseller } from '../reseller/account.ts'
import type { Credential } from './post-notification.ts'
import type { ProviderKind } from './provider-event.ts'
import { createWebhookEndpoint, type WebhookEndpointOptions } from './webhook-endpoint.ts'

const open: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop()
})

async function endpointWith<Kind extends ProviderKind>(
  credential: Credential & { kind: Kind },
  more: Partial<WebhookEndpointOptions<Kind>> = {},
) {
  const inbound: Receiver = await startReceiver({ now: Date.now })
  const endpoint = createWebhookEndpoint<Kind>({
    url: `${inbound.url}/v1/webhooks/${credential.kind}/con_1`,
    credential,
    now: Date.now,
    chance: createChance(5),
    retryDelaysMs: [5],
    ...more,
  })
  open.push(endpoint, inbound)
  return { inbound, endpoint }
}

test('the official library unpacks every event of the reseller', async () => {
  const secret = 'pdl_ntfset_test_secret'
  const { inbound, endpoint } = await endpointWith({ kind: 'reseller', secrets: [secret] }, { events: ['*'] })
  const reseller = createReseller({ now: Date.now, chance: createChance(1) })
  endpoint.follow(reseller)
  const { subscription, transaction } = reseller.subscribe({ amount: 4_999 })
  reseller.review(reseller.refund({ transactionId: transaction.id }).id, 'rejected')
  reseller.scheduleCancel(subscription.id)
  await endpoint.idle()
  const { webhooks } = new Paddle('none')
  for (const { rawBody, headers } of inbound.deliveries()) {
    const event = await webhooks.unmarshal(rawBody.toString('utf8'), secret, headers['reseller-signature'] ?? '')
    expect(reseller.events().map(made => made.event_id)).toContain(event.eventId)
  }
  expect(inbound.deliveries()).toHaveLength(reseller.events().length)
})

test('the official library handles every event of the subscription biller', async () => {
  const { inbound, endpoint } = await endpointWith({ kind: 'subscription', password: 'p:ss' }, { events: ['*'] })
  const biller = createBiller({ now: Date.now, chance: createChance(1) })
  endpoint.follow(biller)
  const { invoice } = biller.subscribe({ amount: 4_999 })
  biller.refundInvoice(invoice.id)
  await endpoint.idle()
  const client = new Chargebee({ apiKey: 'none', site: 'none' })
  const handler = client.webhooks.createHandler({
    requestValidator: basicAuthValidator((user, password) => user === 'service' && password === 'p:ss'),
  })
  const handled: WebhookEvent[] = []
  handler.on('unhandled_event', ({ event }) => void handled.push(event))
  for (const { rawBody, headers } of inbound.deliveries()) {
    await handler.handle({ body: rawBody.toString('utf8'), headers: { authorization: headers.authorization ?? '' } })
  }
  expect(handled.map(event => event.id).sort()).toEqual(
    biller
      .events()
      .map(event => event.id)
      .sort(),
  )
})

test('the subscription biller can push false values while its API shows the true ones', async () => {
  const credential = { kind: 'subscription', password: 'secret' } as const
  const { inbound, endpoint } = await endpointWith(credential, { disturbance: { falseValuesRate: 1 } })
  const biller = createBiller({ now: Date.now, chance: createChance(1) })
  endpoint.follow(biller)
  const { creditNote, refund } = biller.refundInvoice(biller.bill({ amount: 4_999 }).invoice.id)
  await endpoint.idle()
  const pushed = inbound.deliveries().map(({ body }) => body as BillerEvent)
  const refunded = pushed.find(event => event.event_type === 'payment_refunded')
  if (refunded?.event_type !== 'payment_refunded') throw new Error('payment_refunded did not come')
  const { transaction, credit_note } = refunded.content
  expect([transaction.id, credit_note?.id]).toEqual([refund.id, creditNote.id])
  expect(transaction.amount).not.toBe(refund.amount)
  expect(transaction.status).not.toBe(refund.status)
  expect(biller.asOf(Date.now()).transactions.get(refund.id)).toEqual(refund)
})

test('signed events cannot have false values', async () => {
  const { endpoint } = await endpointWith({ kind: 'processor', secrets: ['whsec_test'] })
  expect(() => endpoint.change({ disturbance: { falseValuesRate: 0.1 } })).toThrow(
    /signed and cannot have false values/,
  )
})

test('the reseller and the subscription biller post again unless 200 is answered', async () => {
  const { inbound, endpoint } = await endpointWith({ kind: 'reseller', secrets: ['pdl_test'] })
  inbound.answerWith(({ number }) => ({ kind: 'answer', status: number === 1 ? 202 : 200 }))
  const reseller = createReseller({ now: Date.now })
  endpoint.follow(reseller)
  reseller.refund({ transactionId: reseller.sell({ amount: 100 }).id })
  await endpoint.idle()
  expect(endpoint.attempts().map(attempt => attempt.status)).toEqual([202, 200])
})

test('the API of the processor shows which events were not delivered', async () => {
  const { inbound, endpoint } = await endpointWith({ kind: 'processor', secrets: ['whsec_test'] })
  const processor = createCardProcessor({ now: Date.now })
  endpoint.follow(processor)
  const api = await startProcessorApi({ processor, readKeys: ['rk'], now: Date.now })
  open.push(api)
  const undelivered = async () => {
    const headers = { authorization: 'Bearer rk' }
    const response = await fetch(`${api.url}/v1/events?delivery_success=false`, { headers })
    return ((await response.json()) as { data: { type: string }[] }).data.map(event => event.type)
  }
  const { charge } = processor.createPayment({ amount: 1_000, currency: 'eur' })
  inbound.answerWith(() => ({ kind: 'answer', status: 500 }))
  processor.refund({ charge: charge.id, amount: 100 })
  await endpoint.idle()
  expect(await undelivered()).toEqual(['charge.refunded', 'refund.created'])
  endpoint.change({ disturbance: { dropRate: 1 } })
  processor.refund({ charge: charge.id, amount: 100 })
  await endpoint.idle()
  // The provider counts lost events as delivered.
  expect(await undelivered()).toEqual(['charge.refunded', 'refund.created'])
})

test('the API of the subscription biller shows the result of each webhook', async () => {
  const { endpoint } = await endpointWith({ kind: 'subscription', password: 'secret' })
  const biller = createBiller({ now: Date.now })
  endpoint.follow(biller)
  const api = await startBillerApi({ biller, readKeys: ['key'], now: Date.now })
  open.push(api)
  const { invoice } = biller.bill({ amount: 1_000 })
  biller.issueCreditNote(invoice.id, { amount: 1 })
  biller.issueCreditNote(invoice.id, { amount: 1, by: { source: 'api', user: 'leaked', suppressesWebhooks: true } })
  await endpoint.idle()
  const authorization = `Basic ${Buffer.from('key:').toString('base64')}`
  const statusesOf = async (query: string) => {
    const response = await fetch(`${api.url}/api/v2/events?${query}`, { headers: { authorization } })
    const { list } = (await response.json()) as { list: { event: { webhook_status: string } }[] }
    return list.map(({ event }) => event.webhook_status)
  }
  expect(await statusesOf('event_type[is]=credit_note_created')).toEqual(['skipped', 'succeeded'])
  expect(await statusesOf('event_type[is]=payment_succeeded')).toEqual(['not_configured'])
  expect(await statusesOf(`webhook_status[in]=${encodeURIComponent('["skipped"]')}`)).toEqual(['skipped'])
})
