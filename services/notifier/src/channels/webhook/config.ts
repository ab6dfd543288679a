import type { Secret, SecretBox } from '@backstop/kit'
import type { ChannelOf } from '../channel.ts'

export interface WebhookTarget {
  readonly url: string
  readonly secret: Secret | null
}

/** @throws AppError `secret_unreadable` when the stored secret does not open */
export function openWebhookTarget(channel: ChannelOf<'webhook'>, secretBox: SecretBox): WebhookTarget {
  const { url, secret } = channel.config
  if (secret === null) return { url, secret: null }
  const context = { collection: 'channels', id: channel._id, field: 'secret', projectId: channel.project_id } as const
  return { url, secret: secretBox.open(secret, context) }
}
