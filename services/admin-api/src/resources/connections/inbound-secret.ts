import type { NewConnection, SecretRotation } from '@backstop/contracts'
import { randomBase62, Secret } from '@backstop/kit'

/** The fixed user name of the subscription provider's basic authentication (interface §2). */
export const SUBSCRIPTION_USERNAME = 'service'
/** 190 bits in a form that every provider's settings page takes; a password is to have 24 characters at least (R2.5). */
const SECRET_LENGTH = 32

/** The secret that notifications are authenticated with, and the part of the answer that shows it, once. */
export interface InboundSecretMade {
  readonly secret: Secret
  /** Empty where the caller brought the secret: there is nothing to tell. */
  readonly shown: { readonly signing_secret?: string } | { readonly username: string; readonly password: string }
}

/** The secret of a connection as given, or a new one where we are to make it. */
export function inboundSecretFor(
  kind: NewConnection['kind'],
  given: Pick<SecretRotation, 'signing_secret' | 'destination_secret'>,
): InboundSecretMade {
  switch (kind) {
    case 'processor': {
      const secret = given.signing_secret ?? `whsec_${randomBase62(SECRET_LENGTH)}`
      return { secret: new Secret(secret), shown: { signing_secret: secret } }
    }
    case 'reseller':
      // The schema of new connections, and the rotation's own check, see to it that there is one.
      return { secret: new Secret(given.destination_secret ?? ''), shown: {} }
    case 'subscription': {
      const password = randomBase62(SECRET_LENGTH)
      return { secret: new Secret(password), shown: { username: SUBSCRIPTION_USERNAME, password } }
    }
    default:
      return kind satisfies never
  }
}
