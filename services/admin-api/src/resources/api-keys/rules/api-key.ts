import { ApiKey, type ApiKeyDocument, deterministicId, type Scope } from '@backstop/contracts'
import { showDocument } from '../../../rules/show-document.ts'

const DAY_MS = 86_400_000
/** The longest time before the expiry at which people are warned, in milliseconds. */
const LONGEST_WARNING_MS = 7 * DAY_MS
/** A short-lived key is warned about in the last quarter of its life, and not from its creation on. */
const WARNED_PART_OF_LIFE = 1 / 4

/** Whether a key may be used at that time. */
function stateOfKey({ revoked_at, expires_at }: ApiKeyDocument, now: Date): ApiKey['state'] {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && expires_at <= now ? 'expired' : 'active'
}

/** The fields of a rotated key, or why it is not rotated. */
export type KeyRotation =
  | { readonly kind: 'rotated'; readonly fields: Partial<ApiKeyDocument> }
  | { readonly kind: 'refused'; readonly reason: 'revoked' }

/**
 * Replaces the secret of a key. The previous one is accepted until the overlap ends, but never longer than it would have been without the
 * rotation. A secret that is older than these two is dropped immediately. A new secret that was never used is replaced without ending the
 * overlap of the previous one: if the answer with the new secret was lost, the software still works with the previous one.
 */
export function rotateKey(
  key: ApiKeyDocument,
  next: { readonly hash: string; readonly hint: string; readonly expiresAt: Date },
  overlapMs: number,
  now: Date,
): KeyRotation {
  if (key.revoked_at !== null) return { kind: 'refused', reason: 'revoked' }
  const kept = secretToKeep(key, now)
  const overlapEnd = now.getTime() + overlapMs
  const expires_at = new Date(Math.min(overlapEnd, kept.expiresAt?.getTime() ?? overlapEnd))
  const isAccepted = expires_at > now
  return {
    kind: 'rotated',
    fields: {
      hash: next.hash,
      hint: next.hint,
      expires_at: next.expiresAt,
      rotated_at: now,
      last_used_at: null,
      previous_hash: isAccepted ? kept.hash : null,
      previous: isAccepted ? { hint: kept.hint, expires_at, last_used_at: kept.lastUsedAt } : null,
    },
  }
}

function secretToKeep({ hash, hint, expires_at, last_used_at, previous_hash, previous }: ApiKeyDocument, now: Date) {
  const isReplacedUnused = last_used_at === null && previous !== null && previous.expires_at > now
  return isReplacedUnused
    ? { hash: previous_hash, hint: previous.hint, expiresAt: previous.expires_at, lastUsedAt: previous.last_used_at }
    : { hash, hint, expiresAt: expires_at, lastUsedAt: last_used_at }
}

/** True if it is time to warn people that the key expires. */
export function isWarningDue(
  { created_at, rotated_at, expires_at }: Pick<ApiKeyDocument, 'created_at' | 'rotated_at' | 'expires_at'>,
  now: Date,
): boolean {
  if (expires_at === null) return false
  const left = expires_at.getTime() - now.getTime()
  const lifeMs = expires_at.getTime() - (rotated_at ?? created_at).getTime()
  return left > 0 && left <= Math.min(LONGEST_WARNING_MS, lifeMs * WARNED_PART_OF_LIFE)
}

/** Keys that expire within this time may be due for a warning. */
export function warningWindow(now: Date): { readonly from: Date; readonly before: Date } {
  return { from: now, before: new Date(now.getTime() + LONGEST_WARNING_MS) }
}

/** Why the warning about a key no longer applies; undefined while it applies. */
export function endOfWarning(key: ApiKeyDocument, now: Date): 'rotated' | 'revoked' | 'expired' | undefined {
  if (key.warned_expiry === null) return undefined
  if (key.revoked_at !== null) return 'revoked'
  if (key.expires_at?.getTime() !== key.warned_expiry.getTime()) return 'rotated'
  return key.warned_expiry <= now ? 'expired' : undefined
}

/** The incident that warns one project. It is derived, so a repeated warning is the same incident. */
export function keyIncidentId(keyId: string, expiry: Date, projectId: string): string {
  return deterministicId('incident', 'key_expiring', keyId, expiry.toISOString(), projectId)
}

export function showApiKey(document: ApiKeyDocument, now: Date): ApiKey {
  const { previous } = document
  const isPreviousAccepted = previous !== null && previous.expires_at > now && document.revoked_at === null
  return showDocument(ApiKey, document, {
    key_id: document._id,
    scopes: document.scopes as Scope[],
    state: stateOfKey(document, now),
    ...(isPreviousAccepted ? {} : { previous: null }),
  })
}
