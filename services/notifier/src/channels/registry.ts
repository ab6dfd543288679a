import type { ChannelDocument, ChannelKind, DeliveryRequest } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import type { Answer } from '../domain/answer.ts'
import type { ChannelModule, ChannelPorts } from './channel.ts'
import { emailChannel } from './email/deliver.ts'
import { slackChannel } from './slack/deliver.ts'
import { webhookChannel } from './webhook/deliver.ts'

/** Every kind of channel. Adding one adds its folder and a line here. */
export const CHANNEL_MODULES: { readonly [K in ChannelKind]: ChannelModule<K> } = {
  webhook: webhookChannel,
  slack: slackChannel,
  email: emailChannel,
}

/** Makes one attempt through whatever kind the channel is of. A fault of ours is an answer too: the ladder outlives it. */
export async function deliverThrough(
  channel: ChannelDocument,
  request: DeliveryRequest,
  ports: ChannelPorts,
  onFault: (error: unknown) => void,
): Promise<Answer> {
  const module = CHANNEL_MODULES[channel.config.kind] as ChannelModule<ChannelKind>
  try {
    return await module.deliver(channel, request, ports)
  } catch (error) {
    if (error instanceof AppError && error.code === 'secret_unreadable') {
      const message =
        "The channel's stored secret cannot be opened; set it again, or ask the operator about SECRET_KEYS"
      onFault(error)
      return { kind: 'not_sendable', reason: 'secret_unreadable', message }
    }
    onFault(error)
    return { kind: 'not_sendable', reason: 'internal', message: 'Something went wrong on our side; it is logged' }
  }
}
