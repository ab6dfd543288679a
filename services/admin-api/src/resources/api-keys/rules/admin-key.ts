import type { ApiKeyDocument, Scope } from '@backstop/contracts'

type Key = Pick<ApiKeyDocument, '_id' | 'scopes' | 'project_id' | 'expires_at' | 'revoked_at'>

/** The decision whether a key may be revoked. */
export type RevocationVerdict =
  /** `successorId`: the admin key that remains; null if the revoked key did not administer all projects. */
  | { readonly kind: 'allowed'; readonly successorId: string | null }
  | { readonly kind: 'refused'; readonly reason: 'last_admin_key' }

const ADMIN: Scope = 'admin'

/** True if a key is valid at that time and administers all projects. */
function isUsableAdminKey(key: Key, now: Date): boolean {
  const isUsable = key.revoked_at === null && (key.expires_at === null || key.expires_at > now)
  return isUsable && key.project_id === null && key.scopes.includes(ADMIN)
}

/**
 * Decides whether a key may be revoked. One usable admin key must remain, because only an admin key can create keys. If several remain,
 * the successor is the key that expires last.
 * @param all at least all admin keys that are not revoked; `key` may be included
 */
export function decideRevocation(key: Key, all: readonly Key[], now: Date): RevocationVerdict {
  if (!isUsableAdminKey(key, now)) return { kind: 'allowed', successorId: null }
  const endOf = ({ expires_at }: Key) => expires_at?.getTime() ?? Number.POSITIVE_INFINITY
  const remaining = all.filter(one => one._id !== key._id && isUsableAdminKey(one, now))
  const [successor] = remaining.toSorted((a, b) => (endOf(a) === endOf(b) ? 0 : endOf(b) - endOf(a)))
  if (successor === undefined) return { kind: 'refused', reason: 'last_admin_key' }
  return { kind: 'allowed', successorId: successor._id }
}
