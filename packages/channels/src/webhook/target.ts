import type { SealedSecret, StoredChannel } from '@backstop/contracts'
import type { Secret, SecretBox } from '@backstop/kit'
import type { WebhookConfig } from './form.ts'

/** Where a webhook's deliveries go, and what authenticates them. */
export interface WebhookTarget {
  readonly url: string
  /** That sign now, newest first; none when the channel has no secret, two while a rotation overlaps. */
  readonly secrets: readonly Secret[]
  /** The owner's own headers, by lower-case name: nothing in them can stand beside a header of ours by another spelling. */
  readonly headers: ReadonlyMap<string, Secret>
}

/**
 * @param nowMs decides whether the secret of before still signs
 * @throws AppError `secret_unreadable` when something that is stored does not open
 */
export function openWebhookTarget(
  channel: StoredChannel<WebhookConfig>,
  secretBox: SecretBox,
  nowMs: number,
): WebhookTarget {
  const { url, secret, previous_secret: previous, headers = {} } = channel.config
  const opened = openedOf(channel)
  const open = (sealed: SealedSecret, field: string) => {
    // A secret opens in its own field alone, here too.
    const place = `${field} ${sealed}`
    const known = opened.get(place)
    if (known !== undefined) return known
    const context = { collection: 'channels', id: channel._id, field, projectId: channel.project_id } as const
    const secret = secretBox.open(sealed, context)
    opened.set(place, secret)
    return secret
  }
  const isOverlapping = previous != null && nowMs < previous.expires_at.getTime()
  return {
    url,
    secrets: [
      ...(secret === null ? [] : [open(secret, 'secret')]),
      ...(isOverlapping ? [open(previous.sealed, 'previous_secret')] : []),
    ],
    headers: new Map(Object.entries(headers).map(([name, sealed]) => [name.toLowerCase(), open(sealed, 'headers')])),
  }
}

/**
 * What was opened of a channel as it was read, which is done anew every other second: opening costs as much as the rest of
 * a delivery together.
 */
const OPENED = new WeakMap<StoredChannel<WebhookConfig>, Map<string, Secret>>()

function openedOf(channel: StoredChannel<WebhookConfig>): Map<string, Secret> {
  const opened = OPENED.get(channel) ?? new Map<string, Secret>()
  OPENED.set(channel, opened)
  return opened
}
