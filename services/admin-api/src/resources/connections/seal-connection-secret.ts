import type { ConnectionSecret } from '@backstop/contracts'
import type { Secret, SecretBox } from '@backstop/kit'

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
