import { type ApiKeyDocument, Session, type SessionDocument } from '@backstop/contracts'
import { showDocument } from '../../rules/show-document.ts'

const HOUR_MS = 3_600_000
/** A session that is not used for this time ends, in milliseconds. */
const IDLE_MS = 8 * HOUR_MS
/** A session ends at the latest after this time, in milliseconds. */
export const LONGEST_MS = 24 * HOUR_MS
/** How long a sign-in link can be used, in milliseconds. */
export const LINK_MS = 5 * 60_000

/** Whether a session may be used at that time. */
export function stateOfSession(
  { ended_at, expires_at, last_seen_at }: Pick<SessionDocument, 'ended_at' | 'expires_at' | 'last_seen_at'>,
  now: Date,
): Session['state'] {
  if (ended_at !== null) return 'ended'
  const isIdle = now.getTime() - last_seen_at.getTime() >= IDLE_MS
  return isIdle || expires_at <= now ? 'expired' : 'active'
}

/** Whether a secret of a key is accepted, and until when. */
export type SecretVerdict =
  | { readonly kind: 'accepted'; readonly endsAt: Date | null }
  | { readonly kind: 'refused'; readonly reason: 'revoked' | 'replaced' | 'expired' }

/** Decides about the secret that opened a session: after a rotation, the previous secret is accepted until the overlap ends. */
export function decideSecret(
  { revoked_at, expires_at, hash, previous_hash, previous }: ApiKeyDocument,
  usedHash: string | null,
  now: Date,
): SecretVerdict {
  if (revoked_at !== null) return { kind: 'refused', reason: 'revoked' }
  const isPrevious = usedHash !== null && usedHash === previous_hash && previous !== null
  if (usedHash !== hash && !isPrevious) return { kind: 'refused', reason: 'replaced' }
  const endsAt = usedHash === hash ? expires_at : (previous?.expires_at ?? null)
  return endsAt !== null && endsAt <= now ? { kind: 'refused', reason: 'expired' } : { kind: 'accepted', endsAt }
}

export function showSession(document: SessionDocument, now: Date): Session {
  return showDocument(Session, document, { session_id: document._id, state: stateOfSession(document, now) })
}
