import { ApiKey, ApiKeyPatch, ApiKeyQuery, CreatedApiKey, NewApiKey } from '@backstop/contracts'
import { apiKeyDocument, generateApiKey } from '@backstop/kit/api-key'
import { AppError } from '@backstop/kit/errors'
import { z } from 'zod'
import { decideKeyProject } from '../../access/rules/access.ts'
import { changeVersioned } from '../../http/change-versioned.ts'
import { findInProject, findProject, projectRefused } from '../../http/find-resource.ts'
import { etagOf } from '../../http/if-match.ts'
import { getRoute, listRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { rotateKeyRoute } from './rotate-key.ts'
import { decideRevocation } from './rules/admin-key.ts'
import { showApiKey } from './rules/api-key.ts'

const tag = 'API keys'
const DAY_MS = 86_400_000

/** /v1/api-keys */
export function apiKeyRoutes(parts: AdminParts): Route[] {
  const { stores } = parts
  return [
    createRoute(parts),
    listRoute({
      path: '/v1/api-keys',
      operationId: 'listApiKeys',
      tag,
      summary: 'List API keys, also expired and revoked ones, newest first',
      scope: 'admin',
      items: 'keys',
      query: ApiKeyQuery,
      schema: ApiKey,
      collection: stores.apiKeys,
      sortedBy: 'created_at',
      show: (key, _, now) => showApiKey(key, now),
    }),
    getRoute({
      path: '/v1/api-keys/{id}',
      operationId: 'getApiKey',
      tag,
      summary: 'Get an API key, also an expired or revoked one',
      scope: 'admin',
      item: 'key',
      schema: ApiKey,
      isVersioned: true,
      find: ({ params, principal }) => findInProject(stores.apiKeys, principal, 'API key', params.id),
      show: showApiKey,
    }),
    renameRoute(),
    rotateKeyRoute(),
    revokeRoute(),
  ]
}

function createRoute({ stores }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/api-keys',
    operationId: 'createApiKey',
    tag,
    summary: 'Create an API key',
    description: 'Only this answer shows the key. A key that is bound to a project creates keys for that project only.',
    scope: 'admin',
    body: NewApiKey,
    answers: { 201: { description: 'The key', schema: CreatedApiKey, shownOnce: ['key'] } },
    refusals: ['not_found'],
    async handle({ body, principal, newId, now, change }) {
      const grant = decideKeyProject(principal, body.project_id)
      if (grant.kind === 'refused') throw projectRefused(grant.reason, body.project_id, 'body.project_id')
      if (grant.projectId !== null) await findProject(stores, principal, grant.projectId)
      const key = generateApiKey()
      const document = apiKeyDocument(key, {
        id: newId('apiKey'),
        name: body.name,
        scopes: body.scopes,
        projectId: grant.projectId,
        createdAt: now,
        createdBy: principal.id,
        expiresAt: new Date(now.getTime() + body.expires_in_days * DAY_MS),
      })
      await change(
        ({ apiKeys }) => apiKeys.put(document),
        () => ({ action: 'api_key.create', target: document._id, projectId: grant.projectId }),
      )
      const shown = { ...showApiKey(document, now), key: key.reveal() }
      return { status: 201, body: shown, headers: { etag: etagOf(document.version) } }
    },
  })
}

function renameRoute(): Route {
  return defineRoute({
    method: 'patch',
    path: '/v1/api-keys/{id}',
    operationId: 'changeApiKey',
    tag,
    summary: 'Rename an API key',
    description: 'If-Match is optional.',
    scope: 'admin',
    params: z.object({ id: z.string() }),
    body: ApiKeyPatch,
    answers: { 200: { description: 'The renamed key', schema: ApiKey } },
    refusals: ['not_found', 'precondition_failed', 'conflict'],
    honoursIfMatch: true,
    async handle({ params, body, principal, ifMatch, now, change }) {
      const changed = await change(
        ({ apiKeys }) =>
          changeVersioned({
            collection: apiKeys,
            find: () => findInProject(apiKeys, principal, 'API key', params.id),
            ifMatch,
            now,
            what: `API key ${params.id}`,
            next: () => body,
          }),
        ({ _id, project_id }) => ({ action: 'api_key.change', target: _id, projectId: project_id }),
      )
      return { status: 200, body: showApiKey(changed, now), headers: { etag: etagOf(changed.version) } }
    },
  })
}

function revokeRoute(): Route {
  return defineRoute({
    method: 'delete',
    path: '/v1/api-keys/{id}',
    operationId: 'revokeApiKey',
    tag,
    summary: 'Revoke an API key',
    description:
      'Requests with a revoked key are refused at once; the key stays in the list. A key may revoke itself. The last usable admin key (scope `admin`, all projects, not expired) cannot be revoked.',
    scope: 'admin',
    params: z.object({ id: z.string() }),
    answers: { 204: { description: 'The key is revoked, also if it was revoked before' } },
    refusals: ['not_found', 'last_admin_key'],
    async handle({ params, principal, now, change }) {
      await change(
        async ({ apiKeys }) => {
          const key = await findInProject(apiKeys, principal, 'API key', params.id)
          if (key.revoked_at !== null) return undefined
          const admins = await apiKeys.findAll({ scopes: 'admin', project_id: null, revoked_at: null })
          const verdict = decideRevocation(key, admins, now)
          if (verdict.kind === 'refused') throw lastAdminKeyError()
          if (verdict.successorId !== null) {
            await apiKeys.change({ _id: verdict.successorId }, { successor_of: key._id })
          }
          const version = key.version + 1
          await apiKeys.change(
            { _id: key._id },
            { revoked_at: now, revoked_by: principal.id, version, updated_at: now },
          )
          return key
        },
        revoked => revoked && { action: 'api_key.revoke', target: params.id, projectId: revoked.project_id },
      )
      return { status: 204 }
    },
  })
}

function lastAdminKeyError(): AppError {
  return new AppError(
    'last_admin_key',
    'No other key could administer all projects: make another one with the scope admin and no project_id, then revoke this one',
  )
}
