import { createHmac } from 'node:crypto'
import type { EgressRequest } from '@backstop/kit/egress'
import { createManualClock } from '@backstop/kit/test'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { secretBox, testRequest, type WebhookFacts, webhookChannel as webhookDocument } from '../../test/fixtures.ts'
import type { ChannelPorts } from '../channel.ts'
import { noMailer } from '../mailer.ts'
import { webhookChannel } from './deliver.ts'

const NEW = 'whsec_bmV3LXNlY3JldC1vZi0yNC1ieXRlcw=='
const OLD = 'whsec_b2xkLXNlY3JldC1vZi0yNC1ieXRlcw=='
const NOW = Date.now()
/** Base64 of user `user` and password `password-canary`. */
const BASIC = Buffer.from('user:password-canary').toString('base64')

/** Makes one attempt at `atMs` to a receiver that answers with `body`. Returns the posted request and the answer. */
async function deliver(facts: WebhookFacts, { atMs = NOW, body = '' } = {}) {
  const posted: EgressRequest[] = []
  const egress = {
    checkUrl: () => undefined,
    async request(request: EgressRequest) {
      posted.push(request)
      return { status: 500, headers: {}, body: Buffer.from(body), complete: true }
    },
    async stop() {},
  }
  const ports: ChannelPorts = {
    egress,
    mailer: noMailer,
    secretBox,
    clock: createManualClock(atMs),
    publicUrl: null,
    brandName: 'Backstop',
    apiPublicUrl: null,
    attemptMs: 20_000,
  }
  const channel = webhookDocument('chn_1', 'https://hooks.example.com/in', facts)
  const project = { branding: {}, timeZone: 'UTC', suppressed: new Map() }
  const answer = await webhookChannel.deliver(channel, testRequest('chn_1'), ports, project)
  const [request] = posted as [EgressRequest]
  return { answer, request, headers: request.headers, verifies: (secret: string) => verifies(secret, request) }
}

function verifies(secret: string, { body, headers }: EgressRequest): boolean {
  try {
    new Webhook(secret).verify(String(body), { ...headers })
    return true
  } catch {
    return false
  }
}

describe('during the overlap of a rotation', () => {
  const previous = { secret: OLD, expiresAt: new Date(NOW + 1_000) }

  test('both secrets verify a delivery', async () => {
    const { headers, verifies } = await deliver({ secret: NEW, previous })
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2)
    expect([verifies(NEW), verifies(OLD)]).toEqual([true, true])
  })

  test('X-Service-Signature uses the new secret, X-Service-Signature-Previous the old one', async () => {
    const { headers } = await deliver({ secret: NEW, previous })
    const signedWith = async (secret: string) => (await deliver({ secret })).headers['X-Service-Signature']
    expect(headers['X-Service-Signature']).toBe(await signedWith(NEW))
    expect(headers['X-Service-Signature-Previous']).toBe(await signedWith(OLD))
  })

  test('the old secret stops signing when the overlap ends', async () => {
    const { headers, verifies } = await deliver({ secret: NEW, previous }, { atMs: NOW + 1_000 })
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(1)
    expect([verifies(NEW), verifies(OLD)]).toEqual([true, false])
    expect(headers).not.toHaveProperty('X-Service-Signature-Previous')
  })
})

test('a template is the body of the request, and both signatures cover its bytes', async () => {
  const { request, verifies } = await deliver({ secret: NEW, template: '{"text": {{text}}, "event": "{{event}}"}' })
  expect(String(request.body)).toBe('{"text": "This is a test", "event": "channel.test"}')
  expect(verifies(NEW)).toBe(true)
  const hmac = createHmac('sha256', NEW).update(String(request.body)).digest('hex')
  expect(request.headers?.['X-Service-Signature']).toBe(`sha256=${hmac}`)
})

describe('custom headers', () => {
  test('are sent with each delivery', async () => {
    const { headers } = await deliver({ headers: { Authorization: 'Bearer canary', 'X-Team': 'billing ops' } })
    expect(headers).toMatchObject({ authorization: 'Bearer canary', 'x-team': 'billing ops' })
  })

  test('never replace a header that Backstop sets, in any spelling', async () => {
    const forged = { 'Webhook-ID': 'x', 'WEBHOOK-TIMESTAMP': '1', 'Content-Type': 'text/html', 'User-Agent': 'x' }
    const { headers } = await deliver({ headers: forged })
    expect(headers).toEqual((await deliver({})).headers)
  })
})

test('User-Agent contains the brand name', async () => {
  expect((await deliver({})).headers['user-agent']).toBe('Backstop-Webhooks/1')
})

describe('an echoed request', () => {
  const facts: WebhookFacts = {
    secret: NEW,
    previous: { secret: 'the "old" canary', expiresAt: new Date(NOW + 1_000) },
    headers: { 'X-Key': 'canary/of/header' },
  }

  test.each([
    { name: 'unchanged', body: `${NEW} the "old" canary canary/of/header` },
    { name: 'escaped as JSON', body: JSON.stringify([NEW, 'the "old" canary', 'canary/of/header']) },
    { name: 'with escaped slashes', body: '["canary\\/of\\/header"]' },
    { name: 'across the first KiB', body: `${'.'.repeat(1_020)}canary/of/header` },
  ])('is stored without the secrets: $name', async ({ body }) => {
    const { answer } = await deliver(facts, { body })
    expect(answer).toMatchObject({ kind: 'http', status: 500 })
    expect(JSON.stringify(answer)).not.toMatch(/canary|bmV3/)
  })

  test.each([
    { name: 'the credentials after the scheme', value: 'Bearer tokencanary99', body: 'bad token tokencanary99' },
    { name: 'the credentials after a custom scheme', value: 'Token   tokencanary99', body: 'bad token tokencanary99' },
    { name: 'each credential of several', value: 'Key id="canary-1", mac=canary-2', body: 'no canary-1 of canary-2' },
    { name: 'a named credential without a scheme', value: 'session=canary-1;v=1', body: '{"session":"canary-1"}' },
    { name: 'the Base64 of Basic without padding', value: `Basic ${BASIC}`, body: `no ${BASIC.replaceAll('=', '')}` },
    {
      name: 'the credentials that Basic encodes',
      value: `Basic ${BASIC}`,
      body: 'user:password-canary is not a login',
    },
    { name: 'the password of Basic', value: `basic ${BASIC}`, body: 'the password password-canary is wrong' },
    {
      name: 'a part that another part is the beginning of',
      value: 'Key canary canary-of-more',
      body: 'no canary-of-more',
    },
  ])('is stored without parts of a header: $name', async ({ value, body }) => {
    const { answer } = await deliver({ headers: { Authorization: value } }, { body })
    expect(JSON.stringify(answer)).not.toMatch(/canary|dXNlcjpwYXNz|of-more/)
    expect(answer).toMatchObject({ body: expect.stringContaining('[secret]') })
  })

  test('keeps the name of a scheme, and parts that are as short as ordinary words', async () => {
    const body = 'Bearer is no scheme that lives here'
    const { answer } = await deliver({ headers: { Authorization: 'Bearer live tokencanary99' } }, { body })
    expect(answer).toMatchObject({ body })
  })

  test('is stored without a signing secret of four letters', async () => {
    const { answer } = await deliver({ secret: 'shhh' }, { body: 'expected a signature by shhh' })
    expect(answer).toMatchObject({ body: 'expected a signature by [secret]' })
  })

  test('is stored unchanged if a secret is shorter than four letters', async () => {
    const { answer } = await deliver({ headers: { 'X-Env': 'live' } }, { body: 'No delivery lives here' })
    expect(answer).toMatchObject({ body: 'No delivery lives here' })
  })
})
