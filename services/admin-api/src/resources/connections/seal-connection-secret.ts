import type { ConnectionSecret, NewConnection, ProviderKind, SecretRotation } from '@backstop/contracts'
import { randomBase62 } from '@backstop/kit/api-key'
import { Secret } from '@backstop/kit/config'
import type { SecretBox } from '@backstop/kit/secret-box'
import { PROVIDERS } from '@backstop/providers'

/** Seals a secret of a connection for storage. */
export function sealConnectionSecret(
  secretBox: SecretBox,
  secret: Secret,
  field: 'inbound_secret' | 'read_key',
  place: { id: string; projectId: string },
  now: Date,
): ConnectionSecret {
  return {
    sealed: secretBox.seal(secret, { collection: 'connections', field, ...place }),
    fingerprint: secretBox.fingerprint(secret),
    created_at: now,
    expires_at: null,
  }
}

/** Seals a read key for storage, and records whether it is known to allow changes at the provider. */
export function sealReadKey(
  secretBox: SecretBox,
  kind: ProviderKind,
  readKey: string,
  place: { id: string; projectId: string },
  now: Date,
): ConnectionSecret {
  const sealed = sealConnectionSecret(secretBox, new Secret(readKey), 'read_key', place, now)
  return PROVIDERS[kind].readBack.hasFullAccess?.(readKey) ? { ...sealed, has_full_access: true } : sealed
}

/** The fixed user name in the basic authentication of subscription providers. */
const SUBSCRIPTION_USERNAME = 'service'
/** 190 bits, in characters that the settings pages of all providers accept. A password needs at least 24 characters. */
const SECRET_LENGTH = 32

/** The secret that authenticates notifications, and the fields that show it once in the answer. */
export interface NewInboundSecret {
  readonly secret: Secret
  /** Empty if the caller gave the secret. */
  readonly shown: { readonly signing_secret?: string } | { readonly username: string; readonly password: string }
}

/** Returns the given secret of a connection, or generates a new secret. */
export function resolveInboundSecret(
  kind: NewConnection['kind'],
  given: Pick<SecretRotation, 'signing_secret' | 'destination_secret'>,
): NewInboundSecret {
  switch (kind) {
    case 'processor': {
      const secret = given.signing_secret ?? `whsec_${randomBase62(SECRET_LENGTH)}`
      return { secret: new Secret(secret), shown: { signing_secret: secret } }
    }
    case 'reseller':
      // The schema of new connections and refuseWrongSecret ensure that a secret is given.
      return { secret: new Secret(given.destination_secret ?? ''), shown: {} }
    case 'subscription': {
      const password = randomBase62(SECRET_LENGTH)
      return { secret: new Secret(password), shown: { username: SUBSCRIPTION_USERNAME, password } }
    }
    default:
      return kind satisfies never
  }
}
