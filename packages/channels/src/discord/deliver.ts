import { type ChannelModule, settingOf } from '../channel.ts'
import { ONE_MESSAGE_A_SECOND, openWebhookUrl, postJson } from '../webhook-url/target.ts'
import type { DiscordConfig } from './form.ts'
import { discordMessage } from './message.ts'

/** Posts an embed to a webhook of Discord. */
export const discordChannel: ChannelModule<DiscordConfig> = {
  kind: 'discord',
  audience: 'people',
  // Discord announces its limits with each answer and sends 429 above them; one message a second is below them.
  ...ONE_MESSAGE_A_SECOND,
  deliver(channel, request, ports, project) {
    const { url, echoes } = openWebhookUrl(channel, ports.secretBox)
    const message = discordMessage(request.alert, settingOf(ports, project, request))
    return postJson(channel._id, { url: waitingUrl(url.reveal()), echoes }, message, ports)
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
