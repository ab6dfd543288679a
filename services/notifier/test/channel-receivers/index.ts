import type { ChannelKind } from '@backstop/contracts'
import type { ChannelReceivers } from '../channel.contract.ts'
import { discordReceivers } from './discord.ts'
import { emailReceivers } from './email.ts'
import { pagerDutyReceivers } from './pagerduty.ts'
import { slackReceivers } from './slack.ts'
import { teamsReceivers } from './teams.ts'
import { webhookReceivers } from './webhook.ts'

/** The receivers of each kind of channel for the shared suite. A new kind adds a file and a line here. */
export const CHANNEL_RECEIVERS: { readonly [K in ChannelKind]: ChannelReceivers } = {
  slack: slackReceivers,
  email: emailReceivers,
  webhook: webhookReceivers,
  pagerduty: pagerDutyReceivers,
  teams: teamsReceivers,
  discord: discordReceivers,
}
