import type { ConnectionSecret, ProviderKind } from '@backstop/contracts'
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
