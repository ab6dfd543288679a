import { type SealedSecret, Timestamp } from '@backstop/contracts'
import { z } from 'zod'
import { channelForm, type ResealField, type SealField, Url } from '../form.ts'
import { findTemplateFault, TEMPLATE_LIMITS } from './template.ts'

export interface WebhookConfig {
  kind: 'webhook'
  url: string
  secret: SealedSecret | null
  fingerprint: string | null
  /**
   * The secret before the last rotation. Deliveries are signed with it, too, until it expires. Encrypted as field
   * 'previous_secret'.
   */
  previous_secret?: { sealed: SealedSecret; fingerprint: string; expires_at: Date } | null
  /** Custom headers by name. Their values may be credentials, so each is encrypted as field 'headers'. */
  headers?: Record<string, SealedSecret>
  /** The body of each request, with placeholders. Null or undefined: the document of docs/webhooks.md. */
  template?: string | null
}

const STANDARD_PREFIX = 'whsec_'
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)$/

/**
 * The base64 key of a secret in the Standard Webhooks form (`whsec_` and base64, with or without padding). Undefined
 * for any other secret: then the bytes of the secret are the key.
 */
export function base64KeyOf(secret: string): string | undefined {
  const encoded = secret.slice(STANDARD_PREFIX.length)
  return secret.startsWith(STANDARD_PREFIX) && BASE64.test(encoded) ? encoded : undefined
}

/**
 * A signing secret: any text, but only base64 after the prefix `whsec_`. Verifiers of Standard Webhooks decode the text
 * after the prefix and could not verify any delivery otherwise.
 */
export const SharedSecret = z
  .string()
  .min(1)
  .max(255)
  .refine(
    secret => !secret.startsWith(STANDARD_PREFIX) || base64KeyOf(secret) !== undefined,
    'After whsec_ write the key in base64, for example the output of openssl rand -base64 32; a secret of another form must not begin with whsec_',
  )

const Headers = z
  .record(z.string(), z.string().max(4096))
  .describe('Custom headers (at most 20, 4 KiB in all); values are never shown again')

/** The body of each request, with placeholders. */
export const WebhookTemplate = z
  .string()
  .min(1)
  .max(TEMPLATE_LIMITS.characters)
  .superRefine((template, context) => {
    const fault = findTemplateFault(template)
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault })
  })
  .describe(
    'The body of each request: JSON with placeholders such as {{incident.summary}} (docs/webhooks.md). It is not a secret; set credentials as `headers`',
  )

export const webhookForm = channelForm({
  input: z.strictObject({
    kind: z.literal('webhook'),
    url: Url,
    secret: SharedSecret.optional().describe('Signs each delivery; never shown again. After `whsec_` it is base64'),
    headers: Headers.optional(),
    template: WebhookTemplate.optional(),
  }),
  shown: z.object({
    kind: z.literal('webhook'),
    url: z.string(),
    secret_fingerprint: z.string().nullable(),
    /** Until this time, deliveries are also signed with the previous secret. */
    previous_secret_expires_at: Timestamp.nullable(),
    header_names: z.array(z.string()),
    template: z.string().nullable(),
  }),
  // The secret is not a patch field: only a rotation changes it, so that receivers can verify every delivery during the
  // change.
  patch: {
    url: Url.optional().describe('webhook; a URL of another host requires `headers` too if the channel has any'),
    headers: Headers.optional().describe('webhook: replaces all custom headers; {} removes them'),
    template: WebhookTemplate.nullable()
      .optional()
      .describe('webhook: the body of each request; null returns to the document'),
  },
  urls: ['url'],
  target: ['url'],
  seal({ url, secret, headers = {}, template = null }, seal): WebhookConfig {
    const signed = secret === undefined ? undefined : seal(secret, 'secret')
    return {
      kind: 'webhook',
      url,
      secret: signed?.sealed ?? null,
      fingerprint: signed?.fingerprint ?? null,
      headers: sealHeaders(headers, seal),
      template,
    }
  },
  change: (stored, { url = stored.url, headers, template = stored.template ?? null }, seal) => ({
    ...stored,
    url,
    headers: headers === undefined ? (stored.headers ?? {}) : sealHeaders(headers, seal),
    template,
  }),
  reseal(stored, reseal) {
    const { secret, previous_secret: previous, headers } = stored
    const signed = secret === null ? undefined : reseal(secret, 'secret')
    return {
      ...stored,
      ...(signed === undefined ? {} : { secret: signed.sealed, fingerprint: signed.fingerprint }),
      ...(previous == null ? {} : { previous_secret: { ...previous, ...reseal(previous.sealed, 'previous_secret') } }),
      ...(headers === undefined ? {} : { headers: resealHeaders(headers, reseal) }),
    }
  },
  show({ url, fingerprint, previous_secret: previous, headers = {}, template = null }, nowMs) {
    const isStillGood = previous != null && previous.expires_at.getTime() > nowMs
    return {
      kind: 'webhook',
      url,
      secret_fingerprint: fingerprint,
      previous_secret_expires_at: isStillGood ? previous.expires_at.toISOString() : null,
      header_names: Object.keys(headers).toSorted(),
      template,
    }
  },
  erase: ({ fingerprint }) => ({ kind: 'webhook', url: '', secret: null, fingerprint }),
})

function sealHeaders(headers: Readonly<Record<string, string>>, seal: SealField): Record<string, SealedSecret> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, seal(value, 'headers').sealed]))
}

function resealHeaders(headers: Readonly<Record<string, SealedSecret>>, reseal: ResealField) {
  return Object.fromEntries(Object.entries(headers).map(([name, sealed]) => [name, reseal(sealed, 'headers').sealed]))
}
