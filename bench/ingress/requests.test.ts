import Stripe from 'stripe'
import { expect, test } from 'vitest'
import type { RequestForm } from './load.ts'
import { signedRequests } from './requests.ts'

const SECRET = 'whsec_test'

/** The parts of the first request of `count`. */
function requestOf(form: RequestForm, count = 1) {
  const order = { port: 0, sockets: 1, warmUpAnswers: 0, measureMs: 0, isAuthentic: true }
  const requests = signedRequests({ ...order, form, events: count, secret: SECRET }).map(String)
  const [head = '', body = ''] = requests[0]!.split('\r\n\r\n')
  const headers = Object.fromEntries(head.split('\r\n').map(line => line.split(': ')))
  return { requests, line: head.split('\r\n')[0], headers, body }
}

test.each(['ingress', 'WebhookX', 'stripe-sync-engine'] as const)('events for %s differ and have 1.2 KB', form => {
  const { requests, headers, body } = requestOf(form, 10)
  expect(new Set(requests).size).toBe(10)
  expect(body).toHaveLength(1_200)
  expect(headers['content-length']).toBe('1200')
})

test('stripe-sync-engine gets an event that the library of its provider accepts', () => {
  const { line, headers, body } = requestOf('stripe-sync-engine')
  const event = Stripe.webhooks.constructEvent(body, headers['stripe-signature'], SECRET)
  expect(line).toBe('POST /webhooks HTTP/1.1')
  expect(event.type).toBe('refund.created')
})

test('WebhookX gets the event inside of its own', () => {
  expect(JSON.parse(requestOf('WebhookX').body)).toMatchObject({
    event_type: 'refund.created',
    data: { type: 'refund.created', data: { object: { object: 'refund' } } },
  })
})
