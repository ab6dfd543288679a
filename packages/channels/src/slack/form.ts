import type { SealedSecret } from '@backstop/contracts'
import { z } from 'zod'
import { channelForm, type SealField, Url, WebhookUrlPatch } from '../form.ts'

/**
 * The stored configuration of a Slack channel. The URL is a secret because anyone who has it can post; it is encrypted
 * as field 'webhook_url'.
 */
export interface SlackConfig {
  kind: 'slack'
  webhook_url: SealedSecret
  fingerprint: string
}

export const slackForm = channelForm({
  input: z.strictObject({
    kind: z.literal('slack'),
    webhook_url: Url.describe('URL of an incoming webhook; never shown again'),
  }),
  shown: z.object({ kind: z.literal('slack'), webhook_url_fingerprint: z.string() }),
  patch: { webhook_url: WebhookUrlPatch },
  urls: ['webhook_url'],
  target: ['webhook_url'],
  hosts: {
    names: ['hooks.slack.com', 'hooks.slack-gov.com'],
    remedy: 'Give the URL of an incoming webhook as Slack shows it, https://hooks.slack.com/…',
  },
  seal: ({ webhook_url: url }, seal) => sealUrl(url, seal),
  change: (stored, { webhook_url: url }, seal) => (url === undefined ? stored : sealUrl(url, seal)),
  show: ({ fingerprint }) => ({ kind: 'slack', webhook_url_fingerprint: fingerprint }),
  erase: stored => ({ ...stored, webhook_url: '' }),
})

function sealUrl(url: string, seal: SealField): SlackConfig {
  const { sealed, fingerprint } = seal(url, 'webhook_url')
  return { kind: 'slack', webhook_url: sealed, fingerprint }
}
