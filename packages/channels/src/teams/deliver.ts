import type { ChannelModule } from '../channel.ts'
import { postJson } from '../http-answer.ts'
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
  deliver(channel, { alert }, ports) {
    const { url, echoes } = openWebhookUrl(channel, ports.secretBox)
    const message = teamsMessage(alert, ports.publicUrl, ports.brandName)
    return postJson(channel._id, { url: url.reveal(), echoes }, message, ports)
  },
}
