import type { ChannelModule } from '../channel.ts'
import { toHttpAnswer } from '../http-answer.ts'
import { openWebhookUrl } from '../webhook-url-target.ts'
import type { DiscordConfig } from './form.ts'
import { discordMessage } from './message.ts'

/** Posts an embed to a webhook of Discord. */
export const discordChannel: ChannelModule<DiscordConfig> = {
  kind: 'discord',
  audience: 'people',
  // Discord announces its limits with each answer and sends 429 above them; one message a second is below them.
  concurrency: 1,
  pace: { intervalMs: 1_000, targetOf: ({ fingerprint }) => fingerprint },
  deliver(channel, { alert }, { egress, secretBox, attemptMs, publicUrl, brandName }) {
    const { url, echoes } = openWebhookUrl(channel, secretBox)
    const exchange = egress.request({
      url: waitingUrl(url.reveal()),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(discordMessage(alert, publicUrl, brandName)),
      lane: channel._id,
      timeoutMs: attemptMs,
      partialBody: 'accept',
    })
    return toHttpAnswer(exchange, echoes)
  },
}

/**
 * With `wait=true` Discord answers after it has stored the message. Otherwise a message that it could not store gets no
 * error (https://discord.com/developers/docs/resources/webhook#execute-webhook).
 */
function waitingUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null) return text
  url.searchParams.set('wait', 'true')
  return url.href
}
