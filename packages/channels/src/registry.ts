import type { ChannelKind, DeliveryRequest, EndedAddress } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import type { Answer } from './answer.ts'
import type { ChannelModule, ChannelPorts, ProjectFacts } from './channel.ts'
import { emailChannel } from './email/deliver.ts'
import type { ChannelConfig, ChannelDocument } from './forms.ts'
import { slackChannel } from './slack/deliver.ts'
import { webhookChannel } from './webhook/deliver.ts'

/** Every kind of channel. Adding one adds its folder and a line here. */
export const CHANNEL_MODULES: { readonly [K in ChannelKind]: ChannelModule<Extract<ChannelConfig, { kind: K }>> } = {
  webhook: webhookChannel,
  slack: slackChannel,
  email: emailChannel,
}

/** Makes one attempt through whatever kind the channel is of. A fault of ours is an answer too: the ladder outlives it. */
export async function deliverThrough(
  { channel, project }: { readonly channel: ChannelDocument; readonly project: ProjectFacts },
  request: DeliveryRequest,
  ports: ChannelPorts,
  ended: readonly EndedAddress[],
  onFault: (error: unknown) => void,
): Promise<Answer> {
  const module = moduleOf(channel)
  return answerOf(() => module.deliver(channel, request, ports, project, ended), onFault)
}

/** As `deliverThrough`, of one message that tells all of these requests. */
export async function deliverDigestThrough(
  channel: ChannelDocument,
  requests: readonly DeliveryRequest[],
  ports: ChannelPorts,
  onFault: (error: unknown) => void,
): Promise<Answer> {
  const { kind, digest } = moduleOf(channel)
  return answerOf(async () => {
    if (digest === undefined) throw new AppError('internal', `Channels of the kind ${kind} have no digest`)
    return digest.deliver(channel, requests, ports)
  }, onFault)
}

/** What names the place that a channel posts to, where that takes only so many a second; undefined elsewhere. */
export function paceTargetOf({ config }: ChannelDocument): string | undefined {
  const target = (CHANNEL_MODULES[config.kind] as ChannelModule<ChannelConfig>).pace?.targetOf(config)
  return target === undefined ? undefined : `${config.kind} ${target}`
}

function moduleOf(channel: ChannelDocument): ChannelModule<ChannelConfig> {
  return CHANNEL_MODULES[channel.config.kind] as ChannelModule<ChannelConfig>
}

async function answerOf(deliver: () => Promise<Answer>, onFault: (error: unknown) => void): Promise<Answer> {
  try {
    return await deliver()
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
