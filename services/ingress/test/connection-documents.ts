import type { ConnectionDocument, ProviderKind } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'

/** A key ring for tests only. */
export const KEY_RING = `test:${Buffer.alloc(32, 7).toString('base64')}`
export const secretBox = createSecretBox(parseKeyRing(new Secret(KEY_RING)))

/** An inbound secret of a stored connection. */
export interface TestSecret {
  readonly secret: string
  readonly expiresAt?: Date
}

/** A stored connection whose inbound secrets are `secrets`. */
export function connectionDocument(
  id: string,
  kind: ProviderKind,
  secrets: readonly (string | TestSecret)[],
  changed: Partial<ConnectionDocument> = {},
): ConnectionDocument {
  const projectId = changed.project_id ?? 'prj_test'
  const now = new Date()
  return {
    _id: id,
    project_id: projectId,
    kind,
    name: 'A connection of a test',
    out_of_band: 'auto',
    status: 'active',
    inbound_secrets: secrets.map(given => {
      const { secret, expiresAt } = typeof given === 'string' ? { secret: given, expiresAt: undefined } : given
      return {
        sealed: secretBox.seal(new Secret(secret), {
          collection: 'connections',
          id,
          field: 'inbound_secret',
          projectId,
        }),
        fingerprint: secretBox.fingerprint(new Secret(secret)),
        created_at: now,
        expires_at: expiresAt ?? null,
      }
    }),
    read_key: null,
    site: null,
    api_base: null,
    version: 1,
    created_at: now,
    updated_at: now,
    deleted_at: null,
    ...changed,
  }
}
