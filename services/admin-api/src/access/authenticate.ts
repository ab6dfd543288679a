import { type ApiKeyDocument, Scope } from '@backstop/contracts'
import { AppError, hashApiKey, hintOf, isMistyped, type Logger, Secret } from '@backstop/kit'
import type { Collection } from '../store/collection.ts'
import type { Principal } from './rules/access.ts'

/** Resolution of `last_used_at`: a finer one would cost a write for every request. */
const LAST_USED_RESOLUTION_MS = 60_000
/**
 * The beginning of a shorter credential is not stored: the credential may be another secret, sent by mistake, and the beginning would be
 * most of it.
 */
const MIN_LENGTH_FOR_HINT = 32
/** RFC 6750: the scheme's name in any case, one or more spaces, then the key. */
const BEARER = /^bearer +([\x21-\x7e]{1,512})$/i

/**
 * Returns the key that a request sends. The key is read from the database for each request, so every replica refuses a revoked key at
 * once.
 * @throws AppError `unauthenticated`; `unavailable` if the keys cannot be read
 */
export async function authenticate(
  authorization: string | undefined,
  apiKeys: Collection<ApiKeyDocument>,
  now: Date,
  logger: Logger,
): Promise<Principal> {
  if (authorization === undefined) throw unauthenticated('Send an API key as Authorization: Bearer bsk_…')
  const presented = BEARER.exec(authorization)?.[1]
  if (presented === undefined) throw unauthenticated('The Authorization header must be: Bearer bsk_…')
  const key = new Secret(presented)
  const document = await apiKeys.find({ hash: hashApiKey(key) })
  if (document === undefined) {
    throw unauthenticated(
      isMistyped(key) ? 'The API key is mistyped or incomplete: its checksum is wrong' : 'Unknown API key',
      presented.length >= MIN_LENGTH_FOR_HINT ? { key_hint: hintOf(key) } : {},
    )
  }
  // The answer does not say whether the key expired or was revoked: only its owner may know, from the list of keys.
  const hasExpired = document.expires_at !== null && document.expires_at.getTime() <= now.getTime()
  if (document.revoked_at !== null || hasExpired) {
    throw unauthenticated('The API key is expired or revoked; use another key', { key_id: document._id })
  }
  recordUse(document, apiKeys, now, logger)
  return { keyId: document._id, scopes: document.scopes.filter(isScope), projectId: document.project_id }
}

/** Updates `last_used_at` while the request runs, at most once a minute. An operator sees from it which keys are still in use. */
function recordUse(document: ApiKeyDocument, apiKeys: Collection<ApiKeyDocument>, now: Date, logger: Logger): void {
  const { last_used_at } = document
  if (last_used_at !== null && now.getTime() - last_used_at.getTime() < LAST_USED_RESOLUTION_MS) return
  apiKeys.change({ _id: document._id, last_used_at }, { last_used_at: now }).catch(error => {
    logger.warn({ error, key_id: document._id }, 'api_key.use_not_stored')
  })
}

function isScope(text: string): text is Scope {
  return Scope.safeParse(text).success
}

/** @param details the key or the beginning of the key, as far as known, for the audit */
function unauthenticated(message: string, details: { key_id?: string; key_hint?: string } = {}): AppError {
  return new AppError('unauthenticated', message, { details })
}
