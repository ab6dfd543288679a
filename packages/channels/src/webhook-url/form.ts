import type { ChannelKind, SealedSecret } from '@backstop/contracts'
import { z } from 'zod'
import { channelForm, type SealField, type ServiceHosts, Url, WebhookUrlPatch } from '../form.ts'

/**
 * The stored configuration of a channel that posts to an incoming webhook. The URL is a secret because anyone who has
 * it can post; it is encrypted as field 'webhook_url'.
 */
export interface WebhookUrlConfig<Kind extends ChannelKind = ChannelKind> {
  kind: Kind
  webhook_url: SealedSecret
  fingerprint: string
}

/** The form of a kind whose whole configuration is the URL of an incoming webhook. */
export function webhookUrlForm<const Kind extends ChannelKind>(kind: Kind, hosts: ServiceHosts) {
  const sealUrl = (url: string, seal: SealField): WebhookUrlConfig<Kind> => {
    const { sealed, fingerprint } = seal(url, 'webhook_url')
    return { kind, webhook_url: sealed, fingerprint }
  }
  const input = z.strictObject({
    kind: z.literal(kind),
    webhook_url: Url.describe('URL of an incoming webhook; never shown again'),
  })
  const shown = z.object({ kind: z.literal(kind), webhook_url_fingerprint: z.string() })
  return channelForm<Kind, typeof input, typeof shown, { webhook_url: typeof WebhookUrlPatch }, WebhookUrlConfig<Kind>>(
    {
      input,
      shown,
      patch: { webhook_url: WebhookUrlPatch },
      urls: ['webhook_url'],
      target: ['webhook_url'],
      hosts,
      seal: ({ webhook_url: url }, seal) => sealUrl(url, seal),
      change: (stored, { webhook_url: url }, seal) => (url === undefined ? stored : sealUrl(url, seal)),
      reseal(stored, reseal) {
        if (stored.webhook_url === '') return stored
        const { sealed, fingerprint } = reseal(stored.webhook_url, 'webhook_url')
        return { ...stored, webhook_url: sealed, fingerprint }
      },
      show: ({ fingerprint }) => ({ kind, webhook_url_fingerprint: fingerprint }) as z.output<typeof shown>,
      erase: stored => ({ ...stored, webhook_url: '' }),
    },
  )
}
