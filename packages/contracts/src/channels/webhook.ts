import { z } from 'zod'
import type { SealedSecret } from '../documents/index.ts'
import { Timestamp } from '../operation.ts'
import { channelForm, type SealPart } from './form.ts'
import { Url } from './url.ts'

export interface WebhookConfig {
  kind: 'webhook'
  url: string
  secret: SealedSecret | null
  fingerprint: string | null
  /** The secret before this one: deliveries are signed with both until it expires. Sealed as field 'previous_secret'. */
  previous_secret?: { sealed: SealedSecret; fingerprint: string; expires_at: Date } | null
  /** Custom headers by name (guides: R1.8). Their values may be credentials, so each is sealed as field 'headers'. */
  headers?: Record<string, SealedSecret>
}

export const SharedSecret = z.string().min(1).max(255)

/** Custom headers; their values are never shown again. What is allowed: docs/webhooks.md. */
const Headers = z
  .record(z.string(), z.string().max(4096))
  .describe('Custom headers (at most 20, 4 KiB in all); values are never shown again')

export const webhookForm = channelForm({
  given: z.strictObject({
    kind: z.literal('webhook'),
    url: Url,
    secret: SharedSecret.optional().describe('Signs each delivery; never shown again'),
    headers: Headers.optional(),
  }),
  shown: z.object({
    kind: z.literal('webhook'),
    url: z.string(),
    secret_fingerprint: z.string().nullable(),
    /** The secret before this one still signs beside it until then. */
    previous_secret_expires_at: Timestamp.nullable(),
    header_names: z.array(z.string()),
  }),
  // Not the secret: it is changed by rotation only, so that no delivery goes unsigned in between.
  parts: {
    url: Url.optional().describe('webhook; a URL of another host needs `headers` beside it where the channel has any'),
    headers: Headers.optional().describe('webhook: replaces all custom headers; {} takes them away'),
  },
  urls: ['url'],
  seal({ url, secret, headers = {} }, seal): WebhookConfig {
    const signed = secret === undefined ? undefined : seal(secret, 'secret')
    return {
      kind: 'webhook',
      url,
      secret: signed?.sealed ?? null,
      fingerprint: signed?.fingerprint ?? null,
      headers: sealHeaders(headers, seal),
    }
  },
  change: (stored, { url = stored.url, headers }, seal) => ({
    ...stored,
    url,
    headers: headers === undefined ? (stored.headers ?? {}) : sealHeaders(headers, seal),
  }),
  show({ url, fingerprint, previous_secret: previous, headers = {} }, nowMs) {
    const isStillGood = previous != null && previous.expires_at.getTime() > nowMs
    return {
      kind: 'webhook',
      url,
      secret_fingerprint: fingerprint,
      previous_secret_expires_at: isStillGood ? previous.expires_at.toISOString() : null,
      header_names: Object.keys(headers).toSorted(),
    }
  },
  erase: ({ fingerprint }) => ({ kind: 'webhook', url: '', secret: null, fingerprint }),
})

function sealHeaders(headers: Readonly<Record<string, string>>, seal: SealPart): Record<string, SealedSecret> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, seal(value, 'headers').sealed]))
}
