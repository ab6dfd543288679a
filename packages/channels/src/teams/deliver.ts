import { type ChannelModule, settingOf } from '../channel.ts'
import { ONE_MESSAGE_A_SECOND, openWebhookUrl, postJson } from '../webhook-url/target.ts'
import type { TeamsConfig } from './form.ts'
import { teamsMessage } from './message.ts'

/** Posts an Adaptive Card to a workflow of Microsoft Teams. */
export const teamsChannel: ChannelModule<TeamsConfig> = {
  kind: 'teams',
  audience: 'people',
  // Teams slows down callers that post more than four messages in a second
  // (https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using).
  ...ONE_MESSAGE_A_SECOND,
  deliver(channel, request, ports, project) {
    const { url, echoes } = openWebhookUrl(channel, ports.secretBox)
    const message = teamsMessage(request.alert, settingOf(ports, project, request))
    return postJson(channel._id, { url: url.reveal(), echoes }, message, ports)
  },
}
