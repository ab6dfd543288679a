import {
  NewSession,
  NewSignInLink,
  Session,
  type SessionDocument,
  SignInLink,
  type SignInLinkDocument,
} from '@backstop/contracts'
import { hashApiKey, randomBase62 } from '@backstop/kit/api-key'
import { Secret } from '@backstop/kit/config'
import { AppError } from '@backstop/kit/errors'
import { type AcceptedKey, refuseOtherSites } from '../../access/authenticate.ts'
import { writeCookie } from '../../access/cookies.ts'
import { isAdminOfAll, type Principal } from '../../access/rules/access.ts'
import { decideSignInOrigin } from '../../access/rules/same-origin.ts'
import { decideSecret, LINK_MS, LONGEST_MS, showSession, stateOfSession } from '../../access/rules/session.ts'
import { defineRoute, type RequestClient, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { AdminCollections } from '../../store/stores.ts'
import { findPerson } from '../people/person.ts'

/** A key or token is short, so a stranger can make the API hold little. */
const MAX_BODY_BYTES = 4_096

interface SignInResult {
  readonly signedIn: SignedIn
  /** For the audit. */
  readonly name: string
  /** The only project of the key. */
  readonly projectId: string | null
}

/** POST /v1/sessions */
export function signInRoute({ authenticateKey }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/sessions',
    operationId: 'signIn',
    tag: 'Sessions',
    summary: 'Sign a browser in with an API key or the token of a sign-in link',
    description:
      'Sets a cookie that requests of the same browser are made with. The session has the rights of the key or person, and ends with them.',
    scope: 'public',
    body: NewSession,
    maxBodyBytes: MAX_BODY_BYTES,
    answers: { 201: { description: 'The session', schema: Session } },
    refusals: ['unauthenticated', 'forbidden', 'internal', 'unavailable'],
    async handle({ body, client, newId, now, change }) {
      refuseOtherSites(decideSignInOrigin(client))
      const byKey = 'key' in body ? signInByKey(await authenticateKey(new Secret(body.key), now)) : undefined
      const id = newId('session')
      const { document, cookie } = await change(
        async collections => {
          const result = byKey ?? (await useLink(collections, 'token' in body ? body.token : '', now))
          const opened = openSession(result.signedIn, id, client, now)
          await collections.sessions.insert(opened.document)
          return { ...opened, ...result }
        },
        ({ document: { kind, principal_id }, name, projectId }) => ({
          action: 'session.create',
          target: id,
          projectId,
          actor: { kind, id: principal_id, name, sessionId: id },
        }),
      )
      return { status: 201, body: showSession(document, now), headers: { 'set-cookie': cookie } }
    },
  })
}

function signInByKey({ document, hash, endsAt }: AcceptedKey): SignInResult {
  const { _id, name, project_id } = document
  return {
    signedIn: { kind: 'key', principal_id: _id, key_hash: hash, signed_in_by: 'key', parent_ids: [], endsAt },
    name,
    projectId: project_id,
  }
}

/**
 * @throws AppError `unauthenticated` if the link was used, has expired or is unknown, if its key or person may not sign in, or if the
 * session that created it has ended
 */
async function useLink(
  { signInLinks, sessions, apiKeys, people }: AdminCollections,
  token: string,
  now: Date,
): Promise<SignInResult> {
  const refused = new AppError('unauthenticated', 'The sign-in link was used or has expired; ask for a new one')
  const link = await signInLinks.find({ _id: hashApiKey(new Secret(token)) })
  if (link === undefined || link.used_at !== null || link.expires_at <= now) throw refused
  await signInLinks.change({ _id: link._id, used_at: null }, { used_at: now })
  const parent = link.session_id === null ? undefined : await sessions.find({ _id: link.session_id })
  if (link.session_id !== null && (parent === undefined || stateOfSession(parent, now) !== 'active')) throw refused
  if (link.kind === 'key') {
    const key = await apiKeys.find({ _id: link.principal_id })
    const verdict = key && decideSecret(key, link.key_hash, now)
    if (key === undefined || verdict?.kind !== 'accepted') throw refused
    const signedIn = signInByLink(link, parent)
    return {
      signedIn: { ...signedIn, endsAt: signedIn.endsAt ?? verdict.endsAt },
      name: key.name,
      projectId: key.project_id,
    }
  }
  const person = await people.change({ _id: link.principal_id, disabled: false }, { last_sign_in_at: now })
  if (person === undefined) throw refused
  return { signedIn: signInByLink(link, parent), name: person.name, projectId: null }
}

/** @param parent the session that created the link: the new session lasts no longer, so links extend no session */
function signInByLink(
  { kind, principal_id, key_hash }: SignInLinkDocument,
  parent: SessionDocument | undefined,
): SignedIn {
  const parent_ids = parent === undefined ? [] : [parent._id, ...parent.parent_ids]
  return { kind, principal_id, key_hash, signed_in_by: 'link', parent_ids, endsAt: parent?.expires_at ?? null }
}

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

/** POST /v1/sign-in-links */
export function signInLinkRoute({ stores, publicUrl }: AdminParts): Route {
  /** Who the link signs in. */
  async function signedIn(
    principal: Principal,
    personId: string | undefined,
  ): Promise<Pick<SignInLinkDocument, 'kind' | 'principal_id' | 'key_hash'>> {
    if (personId !== undefined && personId !== principal.id) {
      const person = await findPerson(stores, principal, personId)
      // An admin of one project could otherwise use the rights that the person has in other projects.
      if (!isAdminOfAll(principal)) {
        throw new AppError('forbidden', 'A link for another person requires the scope admin in all projects')
      }
      return { kind: 'person', principal_id: person._id, key_hash: null }
    }
    return { kind: principal.kind, principal_id: principal.id, key_hash: principal.keyHash }
  }
  return defineRoute({
    method: 'post',
    path: '/v1/sign-in-links',
    operationId: 'createSignInLink',
    tag: 'Sessions',
    summary: 'Create a link that signs a browser in once, within 5 minutes',
    description:
      'For the caller, or for another person. Only this answer shows the link. A link that a session creates ends with that session, and the session that it opens lasts no longer.',
    scope: 'admin',
    body: NewSignInLink,
    answers: { 201: { description: 'The link', schema: SignInLink, shownOnce: ['url', 'token'] } },
    refusals: ['not_found'],
    async handle({ body, principal, now, change }) {
      const who = await signedIn(principal, body.person_id)
      const token = generateToken('bsl')
      const expires_at = new Date(now.getTime() + LINK_MS)
      const created = { created_by: principal.id, session_id: principal.sessionId, expires_at }
      const link = { _id: hashApiKey(token), ...who, ...created, used_at: null }
      await change(
        ({ signInLinks }) => signInLinks.insert(link),
        () => ({ action: 'sign_in_link.create', target: who.principal_id, projectId: null }),
      )
      const url = `${publicUrl.replace(/\/$/, '')}/sign-in#${token.reveal()}`
      return { status: 201, body: { url, token: token.reveal(), expires_at: expires_at.toISOString() } }
    },
  })
}
