import { SIGNERS } from '@backstop/providers/test'
import { eventOf, makeRefunds } from '../../test/setup/refunds.ts'
import type { RequestKind } from './load.ts'

/** The size of an event with the details that real ones have: 1.2 KB. */
const EVENT_BYTES = 1_200

const { header, sign } = SIGNERS.processor

/** Requests with different events, as bytes. */
export function signedRequests({ events, secret, isAuthentic, connections }: RequestKind): Buffer[] {
  const key = isAuthentic ? secret : `${secret}-wrong`
  const jsonOf = (event: object, padding: string) => JSON.stringify({ ...event, padding })
  return makeRefunds(`b${Date.now().toString(36)}`, events, connections).map(refund => {
    const event = eventOf(refund).body
    const body = Buffer.from(jsonOf(event, 'x'.repeat(EVENT_BYTES - jsonOf(event, '').length)))
    const head = [
      `POST /v1/webhooks/processor/${refund.connectionId} HTTP/1.1`,
      'host: localhost',
      'user-agent: Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      'accept: */*; q=0.5, application/xml',
      'cache-control: no-cache',
      'content-type: application/json; charset=utf-8',
      `${header}: ${sign(body, [key], Date.now())}`,
      `content-length: ${body.length}`,
    ]
    return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
  })
}
