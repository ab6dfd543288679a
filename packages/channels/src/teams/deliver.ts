import type { ChannelModule } from '../channel.ts'
import { toHttpAnswer } from '../http-answer.ts'
import { openWebhookUrl } from '../webhook-url-target.ts'
import type { TeamsConfig } from './form.ts'
import { teamsMessage } from './message.ts'

/** Posts an Adaptive Card to a workflow of Microsoft Teams. */
export const teamsChannel: ChannelModule<TeamsConfig> = {
  kind: 'teams',
  audience: 'people',
  // Teams slows down callers that post more than four messages in a second
  // (https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using).
  concurrency: 1,
  pace: { intervalMs: 1_000, targetOf: ({ fingerprint }) => fingerprint },
  deliver(channel, { alert }, { egress, secretBox, attemptMs, publicUrl, brandName }) {
    const { url, echoes } = openWebhookUrl(channel, secretBox)
    const exchange = egress.request({
      url: url.reveal(),
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(teamsMessage(alert, publicUrl, brandName)),
      lane: channel._id,
      timeoutMs: attemptMs,
      partialBody: 'accept',
    })
    return toHttpAnswer(exchange, echoes)
  },
}
