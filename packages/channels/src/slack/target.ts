import type { StoredChannel } from '@backstop/contracts'
import { Secret, type SecretBox } from '@backstop/kit'
import type { SlackConfig } from './form.ts'

/** The URL of an incoming webhook. It is a secret, because anyone who has it can post. */
export interface SlackTarget {
  readonly url: Secret
  /**
   * The parts of the URL that are masked in answers: the URL, its path, and each suffix of the path down to the token.
   * Error pages repeat the path without the host, and Slack's errors contain the team, the app or the token.
   */
  readonly echoes: readonly Secret[]
}

/** @throws AppError `secret_unreadable` */
export function openSlackTarget(channel: StoredChannel<SlackConfig>, secretBox: SecretBox): SlackTarget {
  const { _id: id, project_id: projectId, config } = channel
  const url = secretBox.open(config.webhook_url, { collection: 'channels', id, field: 'webhook_url', projectId })
  return { url, echoes: [url, ...pathSuffixes(url.reveal()).map(end => new Secret(end))] }
}

function pathSuffixes(url: string): string[] {
  if (!URL.canParse(url)) return []
  const segments = new URL(url).pathname.split('/').filter(segment => segment !== '')
  return segments.map((_, index) => segments.slice(index).join('/'))
}
