/** Traces of a whole product, received by an OTLP/HTTP receiver of the test. The provider is read at the second look. */
import { readFileSync } from 'node:fs'
import type { IncidentWithTimeline, Problem } from '@backstop/contracts'
import { type Receiver, until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { type Connected, connectProcessor } from '../setup/accounts.ts'
import { type Customer, openCustomer } from '../setup/customer.ts'
import { readSpans, type SentSpan } from '../setup/traces.ts'
import { RECHECK_DELAY_MS, tracedProduct } from './traced-product.ts'

/** The deadline of every wait. It is long enough for a busy machine. */
const WITHIN_MS = 60_000
const SERVICES = ['ingress', 'reconciler', 'notifier', 'admin-api'] as const

let collector: Receiver
let product: Product
let customer: Customer
let shop: Connected<'processor'>

function refundOnce(amount: number) {
  const payment = shop.account.createPayment({ amount: 1_000_000, currency: 'eur' })
  return shop.account.refund({ payment_intent: payment.paymentIntent.id, amount })
}

const logLines = (service: (typeof SERVICES)[number]) =>
  readFileSync(product.children[service].logPath, 'utf8')
    .split('\n')
    .flatMap(line => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []))

/** Resolves with the sent span that the filter finds. */
const spanWith = (what: string, isIt: (span: SentSpan) => boolean) =>
  until(what, async () => readSpans(collector).find(isIt), {
    timeoutMs: WITHIN_MS,
    seen: () => readSpans(collector).map(({ service, name }) => `${service}: ${name}`),
  })

const inTrace = (span: SentSpan, name: string) => (other: SentSpan) =>
  other.traceId === span.traceId && other.name === name

describe('a product that sends traces', () => {
  beforeAll(async () => {
    collector = tracedProduct().collector
    product = tracedProduct().product
    customer = await openCustomer(product)
    shop = await connectProcessor(customer, { outOfBand: 'alert', isReadable: true })
  })
  afterAll(async () => {
    await shop?.stop()
    await customer?.stop()
  })

  describe('the traces of an unexplained refund', () => {
    let incident: IncidentWithTimeline
    let delivery: SentSpan
    beforeAll(async () => {
      const refund = refundOnce(700)
      await customer.alertAbout(refund.id, WITHIN_MS)
      const action = await customer.action(refund.id)
      incident = await customer.api.get(`/v1/incidents/${action?.incident_id}`)
      delivery = await spanWith(
        'the span of the delivery',
        ({ name, attributes }) =>
          name === 'deliver webhook' &&
          attributes['backstop.state'] === 'delivered' &&
          attributes['backstop.project_id'] === customer.projectId,
      )
    })

    test('go from the second look to the delivery in one trace, which the incident names', async () => {
      expect(incident.trace_id).toBe(delivery.traceId)
      const fanOut = await spanWith('the fan-out', inTrace(delivery, 'process alerts'))
      const answered = await spanWith('the answer', inTrace(delivery, 'process readbacks'))
      const read = await spanWith('the read', inTrace(delivery, 'read provider'))
      const look = await spanWith('the second look', inTrace(delivery, 'process rechecks.due'))
      expect(delivery).toMatchObject({ service: 'backstop-notifier', parentSpanId: fanOut.spanId, isError: false })
      expect(fanOut.parentSpanId).toBe(answered.spanId)
      expect(answered.parentSpanId).toBe(read.spanId)
      expect(read.parentSpanId).toBe(look.spanId)
      expect(answered.attributes).toMatchObject({
        'backstop.verdict': 'unexplained',
        'backstop.incident_id': incident.incident_id,
      })
    })

    test('link the second look to the trace of the notification, a minute earlier', async () => {
      const look = await spanWith('the second look', inTrace(delivery, 'process rechecks.due'))
      expect(look.parentSpanId).toBe('')
      expect(look.links).toHaveLength(1)
      const decided = await spanWith('the decision', ({ spanId }) => spanId === look.links[0]?.spanId)
      expect(decided).toMatchObject({ name: 'process inbound.processor', service: 'backstop-reconciler' })
      expect(decided.traceId).not.toBe(look.traceId)
      const sent = await spanWith('the send', ({ spanId }) => spanId === decided.parentSpanId)
      expect(sent).toMatchObject({ name: 'send inbound.processor', traceId: decided.traceId })
      const webhook = await spanWith('the webhook', ({ spanId }) => spanId === sent.parentSpanId)
      expect(webhook).toMatchObject({
        service: 'backstop-ingress',
        name: 'POST /v1/webhooks/{provider}/{connection_id}',
        parentSpanId: '',
        links: [],
      })
      expect(webhook.attributes).toMatchObject({
        'backstop.project_id': customer.projectId,
        'backstop.connection_id': shop.connection.connection_id,
      })
      expect(look.startMs - decided.startMs).toBeGreaterThanOrEqual(RECHECK_DELAY_MS - 100)
      expect(sent.endMs - webhook.startMs).toBeLessThan(WITHIN_MS)
    })

    test('are named in the log lines of each service', () => {
      const lineOf = (service: (typeof SERVICES)[number], event: string, traceId: string) =>
        logLines(service).filter(line => line.msg === event && line.trace_id === traceId)
      expect(lineOf('notifier', 'delivery.attempted', delivery.traceId)).toHaveLength(1)
      expect(lineOf('notifier', 'alert.fanned_out', delivery.traceId)).toHaveLength(1)
      expect(lineOf('reconciler', 'action.decided', delivery.traceId)).not.toEqual([])
      const traceIds = new Set(readSpans(collector).map(({ traceId }) => traceId))
      const received = logLines('ingress').filter(line => line.msg === 'event.ingested')
      for (const { trace_id } of received) expect(traceIds).toContain(trace_id)
    })

    test('show the trace of a request to the API in its problem document', async () => {
      const answer = await fetch(`${product.urls.admin}/v1/incidents/inc_unknown`, {
        headers: {
          authorization: `Bearer ${product.key}`,
          traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        },
      })
      const { status, trace_id } = (await answer.json()) as Problem
      expect(status).toBe(404)
      const span = await spanWith('the request', ({ traceId }) => traceId === trace_id)
      expect(span).toMatchObject({ service: 'backstop-admin-api', name: 'GET /v1/incidents/{id}', parentSpanId: '' })
      expect(span.attributes['http.response.status_code']).toBe(404)
      expect(span.links).toMatchObject([{ traceId: '0af7651916cd43dd8448eb211c80319c' }])
    })

    test('have the resource and the headers that the settings name, and no personal data', () => {
      expect(collector.requests.length).toBeGreaterThan(0)
      for (const { path, headers } of collector.requests) {
        expect(path).toBe('/v1/traces')
        expect(headers['x-tenant']).toBe('our tenant')
      }
      const text = collector.requests.map(({ body }) => body.toString()).join('\n')
      expect(text).toContain('deployment.environment.name')
      expect(text).not.toContain('@')
      expect(text).not.toContain(customer.receiver.url)
    })
  })

  describe('while the receiver of the traces is down', () => {
    test('alerts are delivered, each service that sends spans logs one warning, and all services stop in time', async () => {
      await collector.stop()
      const refund = refundOnce(800)
      await customer.alertAbout(refund.id, WITHIN_MS)
      await customer.actions()
      await until(
        'the warnings',
        async () =>
          SERVICES.every(service => logLines(service).some(({ msg }) => msg === 'traces.not_sent')) ? true : undefined,
        { timeoutMs: WITHIN_MS, everyMs: 500 },
      )
      const began = performance.now()
      await Promise.all(SERVICES.map(service => product.children[service].stop()))
      expect(performance.now() - began).toBeLessThan(20_000)
      for (const service of SERVICES) {
        expect(logLines(service).filter(({ msg }) => msg === 'traces.not_sent')).toHaveLength(1)
        expect(logLines(service).at(-1)?.msg).toBe('service.stopped')
      }
    })
  })
})
