import { NewSignInLink, SignInLink, type SignInLinkDocument } from '@backstop/contracts'
import { hashApiKey } from '@backstop/kit/api-key'
import { AppError } from '@backstop/kit/errors'
import { isAdminOfAll, type Principal } from '../../access/rules/access.ts'
import { LINK_MS } from '../../access/rules/session.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { findPerson } from '../people/person.ts'
import { generateToken } from './open-session.ts'

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
