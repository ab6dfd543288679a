import type { Secret, SecretBox } from '@backstop/kit'
import type { ChannelOf } from '../channel.ts'

/** The incoming webhook's URL, which is all that authenticates us: a secret. @throws AppError `secret_unreadable` */
export function openSlackUrl(channel: ChannelOf<'slack'>, secretBox: SecretBox): Secret {
  const { _id: id, project_id: projectId, config } = channel
  return secretBox.open(config.webhook_url, { collection: 'channels', id, field: 'webhook_url', projectId })
}
