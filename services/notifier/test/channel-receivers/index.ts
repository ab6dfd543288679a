import type { ChannelKind } from '@backstop/contracts'
import type { ChannelWorld } from '../channel.contract.ts'
import { emailWorld } from './email.ts'
import { slackWorld } from './slack.ts'
import { webhookWorld } from './webhook.ts'

/** The receivers of each kind of channel for the shared suite. A new kind adds a file and a line here. */
export const CHANNEL_WORLDS: { readonly [K in ChannelKind]: ChannelWorld } = {
  slack: slackWorld,
  email: emailWorld,
  webhook: webhookWorld,
}
