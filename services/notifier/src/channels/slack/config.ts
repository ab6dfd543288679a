import { Secret, type SecretBox } from '@backstop/kit'
import type { ChannelOf } from '../channel.ts'

/** The incoming webhook's URL, which is all that authenticates us: a secret. */
export interface SlackTarget {
  readonly url: Secret
  /** The URL, and its path alone: error pages repeat the path without the host. */
  readonly forms: readonly Secret[]
}

/** @throws AppError `secret_unreadable` */
export function openSlackTarget(channel: ChannelOf<'slack'>, secretBox: SecretBox): SlackTarget {
  const { _id: id, project_id: projectId, config } = channel
  const url = secretBox.open(config.webhook_url, { collection: 'channels', id, field: 'webhook_url', projectId })
  const text = url.reveal()
  return { url, forms: URL.canParse(text) ? [url, new Secret(new URL(text).pathname)] : [url] }
}
