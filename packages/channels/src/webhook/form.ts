import type { SealedSecret } from '@backstop/contracts'
import { Timestamp } from '@backstop/contracts'
import { z } from 'zod'
import { channelForm, type SealPart, Url } from '../form.ts'

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

const STANDARD_PREFIX = 'whsec_'
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)$/

/**
 * The base64 of the key in a secret as Standard Webhooks writes them: `whsec_` and base64, its padding optional. Undefined
 * for any other secret, which is its own key.
 */
export function standardKeyOf(secret: string): string | undefined {
  const encoded = secret.slice(STANDARD_PREFIX.length)
  return secret.startsWith(STANDARD_PREFIX) && BASE64.test(encoded) ? encoded : undefined
}

/**
 * A secret that webhooks are signed with: any words, save that what looks like a secret of Standard Webhooks is one. Its
 * verifiers decode whatever stands behind the prefix, so none would ever verify a delivery signed with other words.
 */
export const SharedSecret = z
  .string()
  .min(1)
  .max(255)
  .refine(
    secret => !secret.startsWith(STANDARD_PREFIX) || standardKeyOf(secret) !== undefined,
    'A secret that begins with whsec_ has its key behind it in base64, such as openssl rand -base64 32 prints; begin one of your own words otherwise',
  )

/** Custom headers; their values are never shown again. What is allowed: docs/webhooks.md. */
const Headers = z
  .record(z.string(), z.string().max(4096))
  .describe('Custom headers (at most 20, 4 KiB in all); values are never shown again')

export const webhookForm = channelForm({
  given: z.strictObject({
    kind: z.literal('webhook'),
    url: Url,
    secret: SharedSecret.optional().describe('Signs each delivery; never shown again. Behind `whsec_` it is base64'),
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
