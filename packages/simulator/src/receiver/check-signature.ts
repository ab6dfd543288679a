/**
 * Checks the signatures of a delivery. Written from the published documentation and not from the notifier's code, so that an
 * error in one of the two is found by the other.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The result of checking a signature. `unexpected` means that a delivery is signed although the receiver has no secret. */
export type SignatureCheck = 'valid' | 'absent' | 'unexpected' | 'malformed' | 'mismatch' | 'stale'

/** A header value by its name in lower case. */
export type HeaderOf = (name: string) => string | undefined

/** `X-Service-Signature: sha256=<hex HMAC-SHA256 of the raw body>`, with the secret's UTF-8 as the key. */
export function checkServiceSignature(body: Buffer, header: HeaderOf, secret: string | undefined): SignatureCheck {
  const value = header('x-service-signature')
  if (value === undefined) return 'absent'
  if (secret === undefined) return 'unexpected'
  const hex = /^sha256=([0-9a-f]{64})$/.exec(value)?.[1]
  if (hex === undefined) return 'malformed'
  const expected = createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest()
  return timingSafeEqual(expected, Buffer.from(hex, 'hex')) ? 'valid' : 'mismatch'
}

const TOLERANCE_S = 300

/**
 * Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, base64, one or more `v1,…` separated by spaces. The key is
 * the base64 after `whsec_`, or the UTF-8 of any other secret.
 * @param nowS Unix time in seconds; a timestamp that differs by more than five minutes is stale
 */
export function checkStandardWebhook(
  body: Buffer,
  header: HeaderOf,
  secret: string | undefined,
  nowS: number,
): SignatureCheck {
  const id = header('webhook-id')
  const timestamp = header('webhook-timestamp')
  const signatures = header('webhook-signature')
  if (signatures === undefined) return 'absent'
  if (secret === undefined) return 'unexpected'
  if (id === undefined || timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) return 'malformed'
  if (Math.abs(nowS - Number(timestamp)) > TOLERANCE_S) return 'stale'
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret, 'utf8')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  const given = signatures.split(' ').filter(signature => signature.startsWith('v1,'))
  if (given.length === 0) return 'malformed'
  const matches = given.some(signature => {
    const bytes = Buffer.from(signature.slice(3), 'base64')
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
  return matches ? 'valid' : 'mismatch'
}
