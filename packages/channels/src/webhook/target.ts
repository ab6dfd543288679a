import type { SealedSecret, StoredChannel } from '@backstop/contracts'
import type { Secret } from '@backstop/kit/config'
import type { SecretBox } from '@backstop/kit/secret-box'
import type { WebhookConfig } from './form.ts'

/** The URL of a webhook and the decrypted secrets of its deliveries. */
export interface WebhookTarget {
  readonly url: string
  /** The secrets for signing, newest first: none if the channel has no secret, two during the overlap of a rotation. */
  readonly secrets: readonly Secret[]
  /** Custom headers by lower-case name, so that none is a second spelling of a header that we set. */
  readonly headers: ReadonlyMap<string, Secret>
}

/**
 * Decrypts the secrets of a webhook channel.
 * @param nowMs decides whether the previous secret is still used for signing
 * @throws AppError `secret_unreadable` if a stored secret cannot be decrypted
 */
export function openWebhookTarget(
  channel: StoredChannel<WebhookConfig>,
  secretBox: SecretBox,
  nowMs: number,
): WebhookTarget {
  const { url, secret, previous_secret: previous, headers = {} } = channel.config
  const known = openedSecretsOf(channel)
  const open = (sealed: SealedSecret, field: string) => {
    // The field is part of the cache key, so that a secret that was moved to another field is not found here and fails
    // to decrypt.
    const key = `${field} ${sealed}`
    const opened = known.get(key)
    if (opened !== undefined) return opened
    const context = { collection: 'channels', id: channel._id, field, projectId: channel.project_id } as const
    const secret = secretBox.open(sealed, context)
    known.set(key, secret)
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

/** The decrypted secrets of a channel object: decrypting takes as long as the rest of a delivery. */
const OPENED = new WeakMap<StoredChannel<WebhookConfig>, Map<string, Secret>>()

function openedSecretsOf(channel: StoredChannel<WebhookConfig>): Map<string, Secret> {
  const opened = OPENED.get(channel) ?? new Map<string, Secret>()
  OPENED.set(channel, opened)
  return opened
}
