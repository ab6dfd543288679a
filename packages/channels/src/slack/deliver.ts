import type { StoredChannel } from '@backstop/contracts'
import { DIGEST_LIMITS } from '../alert-text/describe-digest.ts'
import type { AttemptAnswer } from '../answer/answer.ts'
import { type ChannelModule, type ChannelPorts, settingOf } from '../channel.ts'
import { ONE_MESSAGE_A_SECOND, openWebhookUrl, postJson } from '../webhook-url/target.ts'
import { digestMessage, digestWithoutBlocks } from './digest.ts'
import type { SlackConfig } from './form.ts'
import { type SlackMessage, slackMessage, slackWithoutBlocks } from './message.ts'

/** Posts a message to an incoming webhook of Slack, or of another chat with the same interface. */
export const slackChannel: ChannelModule<SlackConfig> = {
  kind: 'slack',
  audience: 'people',
  // Slack accepts one message per second and webhook, and answers 429 to further messages.
  ...ONE_MESSAGE_A_SECOND,
  deliver(channel, request, ports, project) {
    const { alert } = request
    const setting = settingOf(ports, project, request)
    const message = slackMessage(alert, setting)
    return postMessage(channel, { message, withoutBlocks: slackWithoutBlocks(alert, setting) }, ports)
  },
  digest: {
    ...DIGEST_LIMITS,
    deliver(channel, { requests }, ports, project) {
      const alerts = requests.map(({ alert }) => alert)
      const setting = settingOf(ports, project)
      const message = digestMessage(alerts, setting)
      return postMessage(channel, { message, withoutBlocks: digestWithoutBlocks(alerts, setting) }, ports)
    },
  },
}

async function postMessage(
  channel: StoredChannel<SlackConfig>,
  { message, withoutBlocks }: { readonly message: SlackMessage; readonly withoutBlocks: SlackMessage },
  ports: ChannelPorts,
): Promise<AttemptAnswer> {
  const { url, echoes } = openWebhookUrl(channel, ports.secretBox)
  const target = { url: url.reveal(), echoes }
  const startedAtMs = ports.clock.now()
  const request = (body: SlackMessage) => {
    // Both requests belong to one attempt, so they share its time limit.
    const attemptMs = Math.max(1, startedAtMs + ports.attemptMs - ports.clock.now())
    return postJson(channel._id, target, body, { egress: ports.egress, attemptMs })
  }
  const answer = await request(message)
  // Slack rejects blocks with various error words. In that case the message is sent again as text.
  return answer.kind === 'http' && answer.status === 400 ? request(withoutBlocks) : answer
}
