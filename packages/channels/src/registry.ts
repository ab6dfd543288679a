import type { ChannelKind, DeliveryRequest, EndedAddress } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { AttemptAnswer } from './answer/answer.ts'
import type { ChannelAudience, ChannelModule, ChannelPorts, Digest, ProjectFacts } from './channel.ts'
import { discordChannel } from './discord/deliver.ts'
import { emailChannel } from './email/deliver.ts'
import type { ChannelConfig, ChannelDocument } from './forms.ts'
import { pagerDutyChannel } from './pagerduty/deliver.ts'
import { slackChannel } from './slack/deliver.ts'
import { teamsChannel } from './teams/deliver.ts'
import { webhookChannel } from './webhook/deliver.ts'

/** The delivery modules of all channel kinds. */
export const CHANNEL_MODULES: { readonly [K in ChannelKind]: ChannelModule<Extract<ChannelConfig, { kind: K }>> } = {
  webhook: webhookChannel,
  slack: slackChannel,
  email: emailChannel,
  pagerduty: pagerDutyChannel,
  teams: teamsChannel,
  discord: discordChannel,
}

/** A channel of an unknown kind gets every alert, and each becomes a dead delivery that a person sees. */
export function audienceOf(kind: ChannelKind): ChannelAudience {
  const modules: Readonly<Record<string, Pick<ChannelModule<ChannelConfig>, 'audience'>>> = CHANNEL_MODULES
  return modules[kind]?.audience ?? 'programs'
}

/**
 * Makes one attempt to deliver an alert to a channel of any kind. A thrown error becomes an answer, so that the
 * delivery is retried.
 * @param onError called with the thrown error
 */
export function deliverToChannel(
  { channel, project }: { readonly channel: ChannelDocument; readonly project: ProjectFacts },
  request: DeliveryRequest,
  ports: ChannelPorts,
  ended: readonly EndedAddress[],
  onError: (error: unknown) => void,
): Promise<AttemptAnswer> {
  const module = channelModuleOf(channel)
  return errorToAnswer(() => module.deliver(channel, request, ports, project, ended), onError)
}

/** Like `deliverToChannel`, with one message that reports the alerts of all requests. */
export function deliverDigestToChannel(
  { channel, project }: { readonly channel: ChannelDocument; readonly project: ProjectFacts },
  digest: Digest,
  ports: ChannelPorts,
  ended: readonly EndedAddress[],
  onError: (error: unknown) => void,
): Promise<AttemptAnswer> {
  const module = channelModuleOf(channel)
  return errorToAnswer(async () => {
    if (module.digest === undefined)
      throw new AppError('internal', `Channels of the kind ${module.kind} have no digest`)
    return module.digest.deliver(channel, digest, ports, project, ended)
  }, onError)
}

/**
 * Identifies the receiver whose rate limit the channel shares with other channels; undefined for a kind without a rate
 * limit.
 */
export function paceTargetOf(channel: ChannelDocument): string | undefined {
  const target = channelModuleOf(channel).pace?.targetOf(channel.config)
  return target === undefined ? undefined : `${channel.config.kind} ${target}`
}

/**
 * A module that accepts the configuration of any kind, because TypeScript cannot infer that the lookup by kind returns
 * the matching module.
 */
function channelModuleOf(channel: ChannelDocument): ChannelModule<ChannelConfig> {
  return CHANNEL_MODULES[channel.config.kind] as ChannelModule<ChannelConfig>
}

async function errorToAnswer(
  deliver: () => Promise<AttemptAnswer>,
  onError: (error: unknown) => void,
): Promise<AttemptAnswer> {
  try {
    return await deliver()
  } catch (error) {
    onError(error)
    if (error instanceof AppError && error.code === 'secret_unreadable') {
      const message =
        "The channel's stored secret cannot be opened; set it again, or ask the operator about SECRET_KEYS"
      return { kind: 'not_sendable', reason: 'secret_unreadable', message }
    }
    return { kind: 'not_sendable', reason: 'internal', message: 'Internal error; it is logged' }
  }
}
