import { randomBytes } from 'node:crypto'
import {
  type ChannelConfig,
  type ChannelConfigPatch,
  changeConfig,
  type NewChannelConfig,
  type SealField,
  sealConfig,
} from '@backstop/channels'
import { AppError, Secret, type SecretBox, type SecretContext } from '@backstop/kit'

/** Which channel it is: a sealed secret opens there only. */
export type ChannelPlace = Pick<SecretContext, 'id' | 'projectId'>

type WebhookConfig = Extract<ChannelConfig, { kind: 'webhook' }>

/** As long as Standard Webhooks recommends, in its form: verifiers take it as it is. */
const SECRET_BYTES = 32

/** A new secret for a webhook whose owner brought none. */
export function makeWebhookSecret(): Secret {
  return new Secret(`whsec_${randomBytes(SECRET_BYTES).toString('base64')}`)
}

/** Seals what is secret about channels, each part bound to its channel and its field. */
export class ChannelSealer {
  readonly #box: SecretBox

  constructor(box: SecretBox) {
    this.#box = box
  }

  /** The config of a new channel as it is stored. */
  sealNew(config: NewChannelConfig, place: ChannelPlace): ChannelConfig {
    return sealConfig(config, this.#sealFor(place))
  }

  /** A config with the parts changed that the patch names; it was judged to fit (rules/alert-channel.ts). */
  applyPatch(config: ChannelConfig, patch: ChannelConfigPatch, place: ChannelPlace): ChannelConfig {
    return changeConfig(config, patch, this.#sealFor(place))
  }

  /** A webhook's config with another secret; that of before signs beside it for the overlap. */
  rotate(config: WebhookConfig, next: Secret, place: ChannelPlace, overlapMs: number, now: Date): WebhookConfig {
    const previous = overlapMs > 0 ? this.#asPrevious(config, place) : undefined
    return {
      ...config,
      ...this.#sealSecret(next, place),
      previous_secret: previous === undefined ? null : { ...previous, expires_at: new Date(now.getTime() + overlapMs) },
    }
  }

  /** Whether the webhook is signed with this very secret. */
  isSignedWith(config: WebhookConfig, secret: Secret): boolean {
    return config.secret !== null && config.fingerprint === this.#box.fingerprint(secret)
  }

  /** Sealed anew, since a sealed secret opens in its own field only. */
  #asPrevious(config: WebhookConfig, place: ChannelPlace): { sealed: string; fingerprint: string } | undefined {
    if (config.secret === null) return undefined
    try {
      return this.#seal(this.#box.open(config.secret, contextOf('secret', place)), 'previous_secret', place)
    } catch (error) {
      // Nothing can be signed with it any more, and a new secret is the remedy: it must not fail for the old one.
      if (error instanceof AppError && error.code === 'secret_unreadable') return undefined
      throw error
    }
  }

  #sealSecret(secret: Secret, place: ChannelPlace) {
    const { sealed, fingerprint } = this.#seal(secret, 'secret', place)
    return { secret: sealed, fingerprint }
  }

  #sealFor(place: ChannelPlace): SealField {
    return (text, field) => this.#seal(new Secret(text), field, place)
  }

  #seal(secret: Secret, field: string, place: ChannelPlace) {
    return {
      sealed: this.#box.seal(secret, contextOf(field, place)),
      fingerprint: this.#box.fingerprint(secret),
    }
  }
}

function contextOf(field: string, place: ChannelPlace): SecretContext {
  return { collection: 'channels', field, ...place }
}
