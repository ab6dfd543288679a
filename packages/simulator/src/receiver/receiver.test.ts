import { createHmac } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { checkServiceSignature, checkStandardWebhook, type SignatureCheck } from './check-signature.ts'
import { type Receiver, startReceiver } from './receiver.ts'

const open: Receiver[] = []
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.stop()
})

const NOW_S = 1_614_265_330
/** The example in the Standard Webhooks documentation. */
const vector = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  body: Buffer.from('{"test": 2432232314}'),
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': String(NOW_S),
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  } as Record<string, string>,
}

test.each<{ name: string; headers?: Record<string, string>; secret?: string; nowS?: number; check: SignatureCheck }>([
  { name: 'the published example', check: 'valid' },
  {
    name: 'a second signature that is valid',
    headers: { 'webhook-signature': `v1,AAAA ${vector.headers['webhook-signature']}` },
    check: 'valid',
  },
  { name: 'another id', headers: { 'webhook-id': 'msg_other' }, check: 'mismatch' },
  { name: 'another secret', secret: 'whsec_AAAA', check: 'mismatch' },
  { name: 'a timestamp of six minutes ago', nowS: NOW_S + 360, check: 'stale' },
  { name: 'an unknown scheme', headers: { 'webhook-signature': 'v9,AAAA' }, check: 'malformed' },
])('Standard Webhooks: $name is $check', ({ headers, secret, nowS, check }) => {
  const all = { ...vector.headers, ...headers }
  expect(checkStandardWebhook(vector.body, name => all[name], secret ?? vector.secret, nowS ?? NOW_S)).toBe(check)
})

test.each<{ name: string; header?: string; secret?: string; check: SignatureCheck }>([
  { name: 'no header', check: 'absent', secret: 'shared' },
  { name: 'a header although no secret is shared', header: `sha256=${'0'.repeat(64)}`, check: 'unexpected' },
  { name: 'a digest without its scheme', header: '0'.repeat(64), secret: 'shared', check: 'malformed' },
  { name: 'the digest of something else', header: `sha256=${'0'.repeat(64)}`, secret: 'shared', check: 'mismatch' },
])('X-Service-Signature: $name is $check', ({ header, secret, check }) => {
  expect(checkServiceSignature(vector.body, () => header, secret)).toBe(check)
})

test('stores a delivery with the results of its signature checks and answers 200', async () => {
  const receiver = await startReceiver({ secret: 'shared ✓', now: Date.now })
  open.push(receiver)
  const body = '{"event":"incident.opened"}'
  const timestamp = Math.floor(Date.now() / 1000)
  const hmac = (text: string) => createHmac('sha256', Buffer.from('shared ✓', 'utf8')).update(text)
  const response = await fetch(`${receiver.url}/hook`, {
    method: 'POST',
    body,
    headers: {
      'x-service-signature': `sha256=${hmac(body).digest('hex')}`,
      'webhook-id': 'dlv_1',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${hmac(`dlv_1.${timestamp}.${body}`).digest('base64')}`,
    },
  })
  expect(response.status).toBe(200)
  expect(receiver.deliveries()).toMatchObject([
    {
      path: '/hook',
      body: { event: 'incident.opened' },
      webhookId: 'dlv_1',
      serviceSignature: 'valid',
      standardWebhook: 'valid',
      answered: 200,
    },
  ])
})

test('names the missing delivery when waiting times out', async () => {
  const receiver = await startReceiver({ now: Date.now })
  open.push(receiver)
  await expect(receiver.waitFor('an alert', () => true, 10)).rejects.toThrow(
    'Waited 10 ms for an alert; 0 other deliveries came',
  )
})
