import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Secret } from '@backstop/kit/config'
import { base64KeyOf } from './form.ts'

/**
 * The headers that authenticate a delivery: X-Service-Signature over the body, and the headers of Standard Webhooks
 * 1.0.0 (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md), for which
 * verifiers exist.
 * @param message `id`: the same for every attempt; `atMs`: the time of this attempt, covered by `webhook-signature`
 * @param secrets newest first; empty for no signatures. `webhook-signature` contains one signature per secret, as its
 * specification requires for rotations. `X-Service-Signature` contains only the newest, so the previous one has a
 * separate header
 */
export function webhookHeaders(
  message: { id: string; atMs: number; body: Buffer },
  secrets: readonly Secret[],
): Record<string, string> {
  const timestamp = String(Math.floor(message.atMs / 1000))
  const headers: Record<string, string> = { 'webhook-id': message.id, 'webhook-timestamp': timestamp }
  const [newest, previous] = secrets
  if (newest === undefined) return headers
  const before = `${message.id}.${timestamp}.`
  const standardSignature = (secret: Secret) =>
    createHmac('sha256', keysOf(secret).standard).update(before).update(message.body).digest('base64')
  headers['webhook-signature'] = secrets.map(secret => `v1,${standardSignature(secret)}`).join(' ')
  headers['X-Service-Signature'] = serviceSignature(newest, message.body)
  if (previous !== undefined) headers['X-Service-Signature-Previous'] = serviceSignature(previous, message.body)
  return headers
}

function serviceSignature(secret: Secret, body: Buffer): string {
  return `sha256=${createHmac('sha256', keysOf(secret).plain).update(body).digest('hex')}`
}

/** Key objects by secret, because signing with a key object is four times as fast as with the key's bytes. */
const KEYS = new WeakMap<Secret, { readonly plain: KeyObject; readonly standard: KeyObject }>()

function keysOf(secret: Secret) {
  const known = KEYS.get(secret)
  if (known !== undefined) return known
  const keys = {
    plain: createSecretKey(Buffer.from(secret.reveal(), 'utf8')),
    standard: createSecretKey(signingKeyOf(secret)),
  }
  KEYS.set(secret, keys)
  return keys
}

/** The key of a secret: the decoded base64 after `whsec_`, or else the UTF-8 bytes of the secret. */
function signingKeyOf(secret: Secret): Buffer {
  const text = secret.reveal()
  const encoded = base64KeyOf(text)
  return encoded === undefined ? Buffer.from(text, 'utf8') : Buffer.from(encoded, 'base64')
}
