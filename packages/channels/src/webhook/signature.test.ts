import { createHmac } from 'node:crypto'
import { Secret } from '@backstop/kit/config'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { alert } from '../../test/fixtures.ts'
import { webhookBody } from './message.ts'
import { webhookHeaders } from './signature.ts'

const body = webhookBody(alert())
const message = { id: 'dlv_1', atMs: Date.now(), body: Buffer.from(body) }

describe('the signature', () => {
  test('is absent without a secret; id and time are present', () => {
    expect(Object.keys(webhookHeaders(message, []))).toEqual(['webhook-id', 'webhook-timestamp'])
  })

  test('in X-Service-Signature is the HMAC-SHA256 of the raw body, keyed with the whole secret', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const expected = createHmac('sha256', secret).update(body).digest('hex')
    expect(webhookHeaders(message, [new Secret(secret)])['X-Service-Signature']).toBe(`sha256=${expected}`)
  })

  test('in X-Service-Signature equals the output of openssl', () => {
    // printf '{"a":1}' | openssl dgst -sha256 -hmac 'shared-secret'
    const headers = webhookHeaders({ id: 'x', atMs: 0, body: Buffer.from('{"a":1}') }, [new Secret('shared-secret')])
    expect(headers['X-Service-Signature']).toBe(
      'sha256=0294f2251135bb0b0299c77d61cf05370fad18c7d5bc9dea04d2b4d415277ada',
    )
  })

  test('in webhook-signature equals the example of the Standard Webhooks specification', () => {
    const secret = new Secret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    const headers = webhookHeaders(
      { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', atMs: 1_614_265_330_000, body: Buffer.from('{"test": 2432232314}') },
      [secret],
    )
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  test.each([
    {
      name: 'a whsec_ secret',
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      verifier: (s: string) => new Webhook(s),
    },
    {
      name: 'any other secret',
      secret: 'just some words!',
      verifier: (s: string) => new Webhook(s, { format: 'raw' }),
    },
    {
      name: 'whsec_ without base64',
      secret: 'whsec_no base64',
      verifier: (s: string) => new Webhook(s, { format: 'raw' }),
    },
  ])('by $name is accepted by the public verifier, and refused if body, id or time differ', ({ secret, verifier }) => {
    const webhook = verifier(secret)
    const headers = webhookHeaders(message, [new Secret(secret)])
    expect(webhook.verify(body, headers)).toEqual(JSON.parse(body))
    expect(() => webhook.verify(body.replace('2499', '2500'), headers)).toThrow()
    expect(() => webhook.verify(body, { ...headers, 'webhook-id': 'dlv_2' })).toThrow()
    const old = webhookHeaders({ ...message, atMs: Date.now() - 3_600_000 }, [new Secret(secret)])
    expect(() => webhook.verify(body, old)).toThrow(/timestamp too old/i)
  })
})
