import { type ApiKeyDocument, Scope, type SessionDocument } from '@backstop/contracts'
import { hashApiKey, hintOf, isMistyped } from '@backstop/kit/api-key'
import { Secret } from '@backstop/kit/config'
import { AppError } from '@backstop/kit/errors'
import type { Collection } from '../store/collection.ts'
import type { AdminCollections } from '../store/stores.ts'
import { type CookieForm, readCookie } from './cookies.ts'
import type { Identity } from './rules/access.ts'
import { grantsOf } from './rules/roles.ts'
import { decideOrigin, type OriginVerdict, type RequestOrigin } from './rules/same-origin.ts'
import { decideSecret, stateOfSession } from './rules/session.ts'
import type { UseRecorder } from './use-recorder.ts'

/**
 * The beginning of a shorter credential is not stored: the credential may be another secret, sent by mistake, and the beginning would be
 * most of it.
 */
const MIN_LENGTH_FOR_HINT = 32
/** RFC 6750: the scheme's name in any case, one or more spaces, then the key. */
const BEARER = /^bearer +([\x21-\x7e]{1,512})$/i

/** The parts that authentication reads and writes. */
export interface AuthenticationParts {
  readonly stores: Pick<AdminCollections, 'apiKeys' | 'people' | 'sessions'>
  readonly uses: Pick<UseRecorder, 'record'>
}

/** A usable key, and the one of its two secrets that was presented. */
export interface AcceptedKey {
  readonly document: ApiKeyDocument
  readonly hash: string
  /** When this secret expires; null if it does not. */
  readonly endsAt: Date | null
}

/** The headers by which a request is authenticated. */
export interface Credentials extends RequestOrigin {
  readonly authorization: string | undefined
  readonly cookie: string | undefined
  readonly cookieForm: CookieForm
}

/**
 * Returns the key or person that makes a request. Keys, people and sessions are read from the database for each request, so every replica
 * refuses a revoked key, a removed role and an ended session at once. If there is an Authorization header, cookies are ignored.
 * @throws AppError `unauthenticated`; `forbidden` if a request with a cookie comes from another site; `unavailable` if they cannot be read
 */
export async function authenticate(credentials: Credentials, parts: AuthenticationParts, now: Date): Promise<Identity> {
  const { authorization, cookie, cookieForm } = credentials
  const session = authorization === undefined ? readCookie(cookie, 'session', cookieForm) : undefined
  if (session !== undefined) {
    refuseOtherSites(decideOrigin(credentials))
    return authenticateSession(new Secret(session), parts, now)
  }
  if (authorization === undefined) throw unauthenticated('Send an API key as Authorization: Bearer bsk_…, or sign in')
  const presented = BEARER.exec(authorization)?.[1]
  if (presented === undefined) throw unauthenticated('The Authorization header must be: Bearer bsk_…')
  const { document, hash } = await authenticateKey(new Secret(presented), parts, now)
  return identityOfKey(document, hash, null)
}

/** @throws AppError `forbidden` */
export function refuseOtherSites(verdict: OriginVerdict): void {
  if (verdict.kind === 'accepted') return
  const message = 'A request with a session must come from a page of this host; send an API key instead'
  throw new AppError('forbidden', message, { details: { reason: verdict.reason } })
}

/**
 * Returns a usable key.
 * @throws AppError `unauthenticated`
 */
export async function authenticateKey(
  key: Secret,
  { stores, uses }: AuthenticationParts,
  now: Date,
): Promise<AcceptedKey> {
  const accepted = await findKey(stores.apiKeys, hashApiKey(key), uses, now)
  if (accepted !== undefined) return accepted
  throw unauthenticated(
    isMistyped(key) ? 'The API key is mistyped or incomplete: its checksum is wrong' : 'Unknown API key',
    key.reveal().length >= MIN_LENGTH_FOR_HINT ? { key_hint: hintOf(key) } : {},
  )
}

async function authenticateSession(
  secret: Secret,
  { stores, uses }: AuthenticationParts,
  now: Date,
): Promise<Identity> {
  const session = await stores.sessions.find({ hash: hashApiKey(secret) })
  if (session === undefined || stateOfSession(session, now) !== 'active') throw sessionEnded(session)
  const { _id, kind, principal_id, key_hash, last_seen_at } = session
  const identity =
    kind === 'key'
      ? await findSignedInKey(stores, principal_id, key_hash, _id, now)
      : await findSignedInPerson(stores, principal_id, _id)
  if (identity === undefined) throw sessionEnded(session)
  uses.record(_id, last_seen_at, at => stores.sessions.change({ _id, last_seen_at }, { last_seen_at: at }))
  return identity
}

async function findSignedInKey(
  { apiKeys }: AuthenticationParts['stores'],
  id: string,
  usedHash: string | null,
  sessionId: string,
  now: Date,
): Promise<Identity | undefined> {
  const key = await apiKeys.find({ _id: id })
  if (key === undefined || decideSecret(key, usedHash, now).kind === 'refused') return undefined
  return identityOfKey(key, usedHash, sessionId)
}

async function findSignedInPerson(
  { people }: AuthenticationParts['stores'],
  id: string,
  sessionId: string,
): Promise<Identity | undefined> {
  const person = await people.find({ _id: id })
  if (person === undefined || person.disabled) return undefined
  return { kind: 'person', id, name: person.name, sessionId, keyHash: null, grants: grantsOf(person) }
}

function identityOfKey(
  { _id, name, scopes, project_id }: ApiKeyDocument,
  keyHash: string | null,
  sessionId: string | null,
): Identity {
  return {
    kind: 'key',
    id: _id,
    name,
    sessionId,
    keyHash,
    grants: [{ projectId: project_id, scopes: scopes.filter(isScope) }],
  }
}

/**
 * Finds a usable key by its hash, or by the hash before its rotation until the overlap ends, and records the use.
 * @throws AppError `unauthenticated` if the key is expired or revoked
 */
async function findKey(
  apiKeys: Collection<ApiKeyDocument>,
  hash: string,
  uses: AuthenticationParts['uses'],
  now: Date,
): Promise<AcceptedKey | undefined> {
  const current = await apiKeys.find({ hash })
  if (current !== undefined) {
    refuseUnusable(current, current.expires_at, now)
    const { _id, last_used_at } = current
    uses.record(_id, last_used_at, at => apiKeys.change({ _id, hash, last_used_at }, { last_used_at: at }))
    return { document: current, hash, endsAt: current.expires_at }
  }
  const rotated = await apiKeys.find({ previous_hash: hash })
  if (rotated?.previous == null) return undefined
  refuseUnusable(rotated, rotated.previous.expires_at, now)
  const { _id, previous, rotated_at } = rotated
  uses.record(`${_id} previous`, previous.last_used_at, at =>
    // A rotation in the meantime may have shortened the overlap. It stays so: this use is not recorded then, but the next one is.
    apiKeys.change({ _id, previous_hash: hash, rotated_at }, { previous: { ...previous, last_used_at: at } }),
  )
  return { document: rotated, hash, endsAt: previous.expires_at }
}

/** The refusal does not say whether the key expired or was revoked: only its owner may know, from the list of keys. */
function refuseUnusable({ _id, revoked_at }: ApiKeyDocument, expiresAt: Date | null, now: Date): void {
  const hasExpired = expiresAt !== null && expiresAt <= now
  if (revoked_at === null && !hasExpired) return
  throw unauthenticated('The API key is expired or revoked; use another key', { key_id: _id })
}

function isScope(text: string): text is Scope {
  return Scope.safeParse(text).success
}

/** @param details the key or the beginning of the key, as far as known, for the audit */
function unauthenticated(
  message: string,
  details: { key_id?: string; key_hint?: string; person_id?: string } = {},
): AppError {
  return new AppError('unauthenticated', message, { details })
}

/** @param session the ended session; undefined if the cookie is unknown */
function sessionEnded(session: SessionDocument | undefined): AppError {
  const id = session?.principal_id
  const details = id === undefined ? {} : session?.kind === 'key' ? { key_id: id } : { person_id: id }
  return unauthenticated('The session has ended; sign in again', details)
}
