import { ApiKey, type ApiKeyDocument, CreatedApiKey, NewApiKey, type Scope } from '@backstop/contracts'
import { AppError, apiKeyDocument, generateApiKey } from '@backstop/kit'
import { z } from 'zod'
import { decideKeyProject, ownProjectFilter } from '../../access/rules/access.ts'
import { findProject, notFound } from '../../http/find-resource.ts'
import { listRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { decideRevocation } from './rules/admin-key.ts'

const tag = 'API keys'
const DAY_MS = 86_400_000

/** /v1/api-keys */
export function apiKeyRoutes({ stores }: AdminParts): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/v1/api-keys',
      operationId: 'createApiKey',
      tag,
      summary: 'Create an API key',
      description:
        'Only this answer shows the key. A key that is bound to a project creates keys for that project only.',
      scope: 'admin',
      body: NewApiKey,
      answers: { 201: { description: 'The key', schema: CreatedApiKey, shownOnce: ['key'] } },
      refusals: ['not_found'],
      async handle({ body, principal, newId, now, change }) {
        const grant = decideKeyProject(principal, body.project_id)
        if (grant.kind === 'refused') throw notFound('project', body.project_id ?? '')
        if (grant.projectId !== null) await findProject(stores, principal, grant.projectId)
        const key = generateApiKey()
        const document = apiKeyDocument(key, {
          id: newId('apiKey'),
          name: body.name,
          scopes: body.scopes,
          projectId: grant.projectId,
          createdAt: now,
          expiresAt: new Date(now.getTime() + body.expires_in_days * DAY_MS),
        })
        await change(
          ({ apiKeys }) => apiKeys.put(document),
          () => ({ action: 'api_key.create', target: document._id, projectId: grant.projectId }),
        )
        return { status: 201, body: { ...showApiKey(document), key: key.reveal() } }
      },
    }),
    listRoute({
      path: '/v1/api-keys',
      operationId: 'listApiKeys',
      tag,
      summary: 'List API keys that are not revoked, newest first',
      scope: 'admin',
      items: 'keys',
      schema: ApiKey,
      collection: stores.apiKeys,
      sortedBy: 'created_at',
      filter: () => ({ revoked_at: null }),
      show: showApiKey,
    }),
    defineRoute({
      method: 'delete',
      path: '/v1/api-keys/{id}',
      operationId: 'revokeApiKey',
      tag,
      summary: 'Revoke an API key',
      description:
        'Requests with a revoked key are refused at once. A key may revoke itself. The last usable admin key (scope `admin`, all projects, not expired) cannot be revoked.',
      scope: 'admin',
      params: z.object({ id: z.string() }),
      answers: { 204: { description: 'The key is revoked' } },
      refusals: ['not_found', 'last_admin_key'],
      async handle({ params, principal, now, change }) {
        const where = { _id: params.id, revoked_at: null, ...ownProjectFilter(principal) }
        await change(
          async ({ apiKeys }) => {
            const key = await apiKeys.find(where)
            if (key === undefined) throw notFound('API key', params.id)
            const admins = await apiKeys.findAll({ scopes: 'admin', project_id: null, revoked_at: null })
            const verdict = decideRevocation(key, admins, now)
            if (verdict.kind === 'refused') throw lastAdminKeyError()
            if (verdict.successorId !== null) {
              await apiKeys.change({ _id: verdict.successorId }, { successor_of: key._id })
            }
            await apiKeys.change({ _id: key._id }, { revoked_at: now })
            return key
          },
          revoked => ({ action: 'api_key.revoke', target: params.id, projectId: revoked.project_id }),
        )
        return { status: 204 }
      },
    }),
  ]
}

function lastAdminKeyError(): AppError {
  return new AppError(
    'last_admin_key',
    'No other key could administer all projects: make another one with the scope admin and no project_id, then revoke this one',
  )
}

function showApiKey(document: ApiKeyDocument): ApiKey {
  return {
    key_id: document._id,
    name: document.name,
    hint: document.hint,
    scopes: document.scopes as Scope[],
    project_id: document.project_id,
    created_at: document.created_at.toISOString(),
    expires_at: document.expires_at?.toISOString() ?? null,
    last_used_at: document.last_used_at?.toISOString() ?? null,
  }
}
