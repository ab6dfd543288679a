import type { ChannelKind } from '@backstop/contracts'
import type { ChannelWorld } from '../channel.contract.ts'
import { emailWorld } from './email.ts'
import { slackWorld } from './slack.ts'
import { webhookWorld } from './webhook.ts'

/** Receivers for each kind of channel, for the suite that all kinds pass. Adding a kind adds a file and a line here. */
export const CHANNEL_WORLDS: { readonly [K in ChannelKind]: ChannelWorld } = {
  slack: slackWorld,
  email: emailWorld,
  webhook: webhookWorld,
}
