import { createHmac } from 'node:crypto'
import { SIGNERS } from '@backstop/providers/test'
import { eventOf, makeRefunds, type Refund } from '../../test/setup/refunds.ts'
import type { RequestForm, RequestKind } from './load.ts'

/** The size of an event with the details that real ones have: 1.2 KB. */
const EVENT_BYTES = 1_200

interface Form {
  /** The name of the header with the signature. */
  readonly header: string
  pathOf(refund: Refund): string
  /** The body that the server expects for an event. */
  bodyOf(event: Readonly<Record<string, unknown>>): object
  sign(body: Buffer, secrets: readonly [string], atMs: number): string
}

const { header, sign } = SIGNERS.processor
const FORMS: Record<RequestForm, Form> = {
  ingress: {
    header,
    pathOf: ({ connectionId }) => `/v1/webhooks/processor/${connectionId}`,
    bodyOf: event => event,
    sign,
  },
  'stripe-sync-engine': { header: 'stripe-signature', pathOf: () => '/webhooks', bodyOf: event => event, sign },
  WebhookX: {
    header: 'x-signature',
    pathOf: () => '/',
    bodyOf: event => ({ event_type: event.type, data: event }),
    sign: (body, [secret]) => createHmac('sha256', secret).update(body).digest('hex'),
  },
}

/** Requests with different events, as bytes. */
export function signedRequests({ form, events, secret, isAuthentic, connections }: RequestKind): Buffer[] {
  const { header, pathOf, bodyOf, sign } = FORMS[form]
  const key = isAuthentic ? secret : `${secret}-wrong`
  const jsonOf = (event: object, padding: string) => JSON.stringify(bodyOf({ ...event, padding }))
  return makeRefunds(`b${Date.now().toString(36)}`, events, connections).map(refund => {
    const event = eventOf(refund).body
    const body = Buffer.from(jsonOf(event, 'x'.repeat(EVENT_BYTES - jsonOf(event, '').length)))
    const head = [
      `POST ${pathOf(refund)} HTTP/1.1`,
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
