import type { StoredChannel } from '@backstop/contracts'
import { Secret, type SecretBox } from '@backstop/kit'
import type { SlackConfig } from './form.ts'

/** The incoming webhook's URL, which is all that authenticates us: a secret. */
export interface SlackTarget {
  readonly url: Secret
  /**
   * The URL, its path, and each end of that down to the token at its end: error pages repeat the path without the host, and
   * Slack's own words name team, app or token.
   */
  readonly forms: readonly Secret[]
}

/** @throws AppError `secret_unreadable` */
export function openSlackTarget(channel: StoredChannel<SlackConfig>, secretBox: SecretBox): SlackTarget {
  const { _id: id, project_id: projectId, config } = channel
  const url = secretBox.open(config.webhook_url, { collection: 'channels', id, field: 'webhook_url', projectId })
  return { url, forms: [url, ...pathEnds(url.reveal()).map(end => new Secret(end))] }
}

function pathEnds(url: string): string[] {
  if (!URL.canParse(url)) return []
  const segments = new URL(url).pathname.split('/').filter(segment => segment !== '')
  return segments.map((_, index) => segments.slice(index).join('/'))
}
