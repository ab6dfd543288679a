import { ListQuery, Me, Session } from '@backstop/contracts'
import { writeCookie } from '../../access/cookies.ts'
import { isAdminOfAll, type Principal } from '../../access/rules/access.ts'
import { showSession } from '../../access/rules/session.ts'
import { notFound } from '../../http/find-resource.ts'
import { listRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { signInLinkRoute, signInRoute } from './sign-in.ts'

const tag = 'Sessions'

/** /v1/sessions, /v1/sign-in-links and /v1/me */
export function sessionRoutes(parts: AdminParts): Route[] {
  const { stores } = parts
  return [
    meRoute(),
    signInRoute(parts),
    signInLinkRoute(parts),
    listRoute({
      path: '/v1/sessions',
      operationId: 'listSessions',
      tag,
      summary: 'List sessions, also ended ones, newest first',
      description: 'Your own sessions; all sessions if you administer all projects.',
      scope: 'signed_in',
      items: 'sessions',
      query: ListQuery,
      schema: Session,
      collection: stores.sessions,
      sortedBy: 'created_at',
      narrow: ({ principal }) => ownSessions(principal),
      show: (session, { now }) => showSession(session, now),
    }),
    endRoute(),
  ]
}

function ownSessions(principal: Principal): { readonly principal_id?: string } {
  return isAdminOfAll(principal) ? {} : { principal_id: principal.id }
}

function meRoute(): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/me',
    operationId: 'getMe',
    tag,
    summary: 'Show which key or person makes this request, and what it may do',
    scope: 'signed_in',
    answers: { 200: { description: 'The key or person', schema: Me } },
    async handle({ principal: { kind, id, name, sessionId, grants } }) {
      const shown = grants.map(({ projectId, scopes }) => ({ project_id: projectId, scopes }))
      return { status: 200, body: { kind, id, name, session_id: sessionId, grants: shown } }
    },
  })
}

function endRoute(): Route {
  return defineRoute({
    method: 'delete',
    path: '/v1/sessions/{id}',
    operationId: 'endSession',
    tag,
    summary: 'Sign out, or end another session',
    description:
      '`current` is the session of the request. Requests with an ended session are refused at once. Sessions that its links opened for the same key or person end too. Sessions of others can be ended by those who administer all projects.',
    scope: 'signed_in',
    answers: { 204: { description: 'The session has ended, also if it ended before' } },
    async handle({ params, principal, client, now, change }) {
      const id = params.id === 'current' ? principal.sessionId : params.id
      if (id === null) throw notFound('session', params.id)
      await change(
        async ({ sessions }) => {
          const session = await sessions.find({ _id: id, ...ownSessions(principal) })
          if (session === undefined) throw notFound('session', id)
          if (session.ended_at !== null) return undefined
          // Its links opened these for the same key or person, also through further links.
          const opened = { principal_id: session.principal_id, ended_at: null, parent_ids: id }
          for (const { _id } of await sessions.findAll(opened)) await sessions.change({ _id }, { ended_at: now })
          return sessions.change({ _id: id }, { ended_at: now })
        },
        ended => ended && { action: 'session.end', target: id, projectId: null },
      )
      const isOwn = id === principal.sessionId
      return isOwn
        ? { status: 204, headers: { 'set-cookie': writeCookie('session', '', client.cookieForm, 0) } }
        : { status: 204 }
    },
  })
}
