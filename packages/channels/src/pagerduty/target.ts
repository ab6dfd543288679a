import type { StoredChannel } from '@backstop/contracts'
import type { Secret } from '@backstop/kit/config'
import type { SecretBox } from '@backstop/kit/secret-box'
import type { PagerDutyConfig } from './form.ts'

/** @throws AppError `secret_unreadable` */
export function openRoutingKey(channel: StoredChannel<PagerDutyConfig>, secretBox: SecretBox): Secret {
  const { _id: id, project_id: projectId, config } = channel
  return secretBox.open(config.routing_key, { collection: 'channels', id, field: 'routing_key', projectId })
}
