import { NewSession, Session, type SessionDocument, type SignInLinkDocument } from '@backstop/contracts'
import { hashApiKey } from '@backstop/kit/api-key'
import { Secret } from '@backstop/kit/config'
import { AppError } from '@backstop/kit/errors'
import { type AcceptedKey, refuseOtherSites } from '../../access/authenticate.ts'
import { decideSignInOrigin } from '../../access/rules/same-origin.ts'
import { decideSecret, showSession, stateOfSession } from '../../access/rules/session.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { AdminCollections } from '../../store/stores.ts'
import { openSession, type SignedIn } from './open-session.ts'

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
