import type { SessionDocument } from '@backstop/contracts'
import { hashApiKey, randomBase62 } from '@backstop/kit/api-key'
import { Secret } from '@backstop/kit/config'
import { writeCookie } from '../../access/cookies.ts'
import { LONGEST_MS } from '../../access/rules/session.ts'
import type { RequestClient } from '../../http/route.ts'

/** 256 random bits in base62. */
const SECRET_LENGTH = 43

/** A secret that nobody can guess: the value of a cookie, or the token of a sign-in link. */
export function generateToken(prefix: 'bss' | 'bsl'): Secret {
  return new Secret(`${prefix}_${randomBase62(SECRET_LENGTH)}`)
}

/** Who signs in. */
export interface SignedIn
  extends Pick<SessionDocument, 'kind' | 'principal_id' | 'key_hash' | 'signed_in_by' | 'parent_ids'> {
  /** The latest end of the session; null if only the limit of every session counts. */
  readonly endsAt: Date | null
}

/** Builds a new session, and the cookie that holds its secret. */
export function openSession(
  { endsAt, ...who }: SignedIn,
  id: string,
  client: RequestClient,
  now: Date,
): { readonly document: SessionDocument; readonly cookie: string } {
  const secret = generateToken('bss')
  const longest = now.getTime() + LONGEST_MS
  const expires_at = new Date(Math.min(longest, endsAt?.getTime() ?? longest))
  const document: SessionDocument = {
    _id: id,
    hash: hashApiKey(secret),
    ...who,
    created_at: now,
    last_seen_at: now,
    expires_at,
    ended_at: null,
    address: client.address,
    user_agent: client.userAgent,
  }
  const cookie = writeCookie('session', secret.reveal(), client.cookieForm, expires_at.getTime() - now.getTime())
  return { document, cookie }
}
