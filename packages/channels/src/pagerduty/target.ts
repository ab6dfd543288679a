import type { StoredChannel } from '@backstop/contracts'
import type { Secret, SecretBox } from '@backstop/kit'
import type { PagerDutyConfig } from './form.ts'

/** @throws AppError `secret_unreadable` */
export function openRoutingKey(channel: StoredChannel<PagerDutyConfig>, secretBox: SecretBox): Secret {
  const { _id: id, project_id: projectId, config } = channel
  return secretBox.open(config.routing_key, { collection: 'channels', id, field: 'routing_key', projectId })
}
