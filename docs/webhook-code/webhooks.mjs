import { createHmac, timingSafeEqual } from 'node:crypto'

function isSame(given, expected) {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Throws unless the delivery is authentic and fresh. `body`: the raw bytes. */
export function verify(body, headers, secret) {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signatures = '' } = headers
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret
  const expected = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  const isSigned = signatures.split(' ').some(given => isSame(given, expected))
  if (!isFresh || !isSigned) throw new Error('The delivery is not authentic, or too old')
}

/** Throws unless the body is authentic. It does not check the time. */
export function verifyBody(body, headers, secret) {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const given = ['x-service-signature', 'x-service-signature-previous'].map(name => headers[name] ?? '')
  if (!given.some(one => isSame(one, expected))) throw new Error('The delivery is not authentic')
}
