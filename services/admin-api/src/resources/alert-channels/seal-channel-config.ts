import { randomBytes } from 'node:crypto'
import {
  type ChannelConfig,
  type ChannelConfigPatch,
  changeConfig,
  type NewChannelConfig,
  type SealField,
  sealConfig,
} from '@backstop/channels'
import { Secret } from '@backstop/kit/config'
import { AppError } from '@backstop/kit/errors'
import type { SecretBox, SecretContext } from '@backstop/kit/secret-box'

/** Identifies the channel. A sealed secret can only be opened with the same id and project. */
export type ChannelIdentity = Pick<SecretContext, 'id' | 'projectId'>

type WebhookConfig = Extract<ChannelConfig, { kind: 'webhook' }>

/** The length that Standard Webhooks recommends; verifier libraries accept its format unchanged. */
const SECRET_BYTES = 32

/** Makes a secret for a webhook whose owner gave none. */
export function makeWebhookSecret(): Secret {
  return new Secret(`whsec_${randomBytes(SECRET_BYTES).toString('base64')}`)
}

/** Seals the secret fields of channels. Each sealed value is bound to its channel and field. */
export class ChannelSealer {
  readonly #box: SecretBox

  constructor(box: SecretBox) {
    this.#box = box
  }

  /** The config of a new channel as it is stored. */
  sealNew(config: NewChannelConfig, place: ChannelIdentity): ChannelConfig {
    return sealConfig(config, this.#sealFor(place))
  }

  /** Applies a patch to a config. The patch was checked by judgeConfigPatch (rules/alert-channel.ts). */
  applyPatch(config: ChannelConfig, patch: ChannelConfigPatch, place: ChannelIdentity): ChannelConfig {
    return changeConfig(config, patch, this.#sealFor(place))
  }

  /** A webhook's config with a new secret. During the overlap, deliveries are also signed with the previous secret. */
  rotate(config: WebhookConfig, next: Secret, place: ChannelIdentity, overlapMs: number, now: Date): WebhookConfig {
    const previous = overlapMs > 0 ? this.#asPrevious(config, place) : undefined
    return {
      ...config,
      ...this.#sealSecret(next, place),
      previous_secret: previous === undefined ? null : { ...previous, expires_at: new Date(now.getTime() + overlapMs) },
    }
  }

  /** True if the webhook is signed with exactly this secret. */
  isSignedWith(config: WebhookConfig, secret: Secret): boolean {
    return config.secret !== null && config.fingerprint === this.#box.fingerprint(secret)
  }

  /** Opened and sealed again, because a sealed secret can only be opened in its own field. */
  #asPrevious(config: WebhookConfig, place: ChannelIdentity): { sealed: string; fingerprint: string } | undefined {
    if (config.secret === null) return undefined
    try {
      return this.#seal(this.#box.open(config.secret, contextOf('secret', place)), 'previous_secret', place)
    } catch (error) {
      // The previous secret cannot be opened, so it cannot sign. The rotation must still succeed, because a new secret is the remedy.
      if (error instanceof AppError && error.code === 'secret_unreadable') return undefined
      throw error
    }
  }

  #sealSecret(secret: Secret, place: ChannelIdentity) {
    const { sealed, fingerprint } = this.#seal(secret, 'secret', place)
    return { secret: sealed, fingerprint }
  }

  #sealFor(place: ChannelIdentity): SealField {
    return (text, field) => this.#seal(new Secret(text), field, place)
  }

  #seal(secret: Secret, field: string, place: ChannelIdentity) {
    return {
      sealed: this.#box.seal(secret, contextOf(field, place)),
      fingerprint: this.#box.fingerprint(secret),
    }
  }
}

function contextOf(field: string, place: ChannelIdentity): SecretContext {
  return { collection: 'channels', field, ...place }
}
