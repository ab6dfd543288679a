import { createHmac } from 'node:crypto'
import type { Alert } from '@backstop/contracts'
import type { Secret } from '@backstop/kit'

/**
 * The JSON document that a webhook receives. Written field by field: the signature covers these bytes, so the order of
 * the fields must not depend on who made the alert.
 */
export function webhookBody(alert: Alert): string {
  return JSON.stringify({
    id: alert.alert_id,
    event: alert.event,
    created_at: alert.created_at,
    project_id: alert.project_id,
    data: alert.data,
  })
}

/**
 * The headers that authenticate a delivery: our own signature over the body, and those of Standard Webhooks 1.0.0
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md), so that existing
 * verifiers work. Without a secret there is no signature.
 * @param id the same for every attempt; @param atMs the time of this attempt, which its signature covers
 */
export function webhookHeaders(
  message: { id: string; atMs: number; body: string },
  secret: Secret | null,
): Record<string, string> {
  const timestamp = String(Math.floor(message.atMs / 1000))
  const headers: Record<string, string> = { 'webhook-id': message.id, 'webhook-timestamp': timestamp }
  if (secret === null) return headers
  headers['webhook-signature'] = `v1,${createHmac('sha256', standardKey(secret))
    .update(`${message.id}.${timestamp}.${message.body}`)
    .digest('base64')}`
  headers['X-Service-Signature'] = `sha256=${createHmac('sha256', Buffer.from(secret.reveal(), 'utf8'))
    .update(message.body)
    .digest('hex')}`
  return headers
}

/** Standard Webhooks keys are the base64 behind `whsec_`; any other secret is taken as its UTF-8 bytes. */
function standardKey(secret: Secret): Buffer {
  const text = secret.reveal()
  const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?)$/.exec(text)?.[1]
  return encoded === undefined || encoded === '' ? Buffer.from(text, 'utf8') : Buffer.from(encoded, 'base64')
}
