import {
  ApiKey,
  type ApiKeyDocument,
  ApiKeyPatch,
  ApiKeyRotation,
  CreatedApiKey,
  NewApiKey,
  ProjectListQuery,
} from '@backstop/contracts'
import { apiKeyDocument, generateApiKey, hashApiKey, hintOf } from '@backstop/kit/api-key'
import { AppError } from '@backstop/kit/errors'
import { decideKeyProject } from '../../access/rules/access.ts'
import { changeAudited, storeNew, type VersionedChange } from '../../http/change-document.ts'
import { findInProject, findProject, projectRefused } from '../../http/find-resource.ts'
import { itemRoute, listRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route, type RouteRequest, versionedAnswer } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { decideRevocation } from './rules/admin-key.ts'
import { rotateKey, showApiKey } from './rules/api-key.ts'

const tag = 'API keys'
const DAY_MS = 86_400_000

/** /v1/api-keys */
export function apiKeyRoutes(parts: AdminParts): Route[] {
  const resource = {
    path: '/v1/api-keys',
    tag,
    scope: 'admin',
    schema: ApiKey,
    collection: parts.stores.apiKeys,
    show: (key: ApiKeyDocument, { now }: { readonly now: Date }) => showApiKey(key, now),
  } as const
  return [
    createRoute(parts),
    listRoute({
      ...resource,
      operationId: 'listApiKeys',
      summary: 'List API keys, also expired and revoked ones, newest first',
      items: 'keys',
      query: ProjectListQuery,
      sortedBy: 'created_at',
    }),
    itemRoute({
      ...resource,
      path: '/v1/api-keys/{id}',
      operationId: 'getApiKey',
      summary: 'Get an API key, also an expired or revoked one',
      item: 'key',
      isVersioned: true,
      find: ({ params, principal }) => findInProject(resource.collection, principal, 'API key', params.id),
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
    async handle(request) {
      const { body, principal, now } = request
      const grant = decideKeyProject(principal, body.project_id)
      if (grant.kind === 'refused') throw projectRefused(grant.reason, body.project_id, 'body.project_id')
      if (grant.projectId !== null) await findProject(stores, principal, grant.projectId)
      const key = generateApiKey()
      const document = apiKeyDocument(key, {
        id: request.newId('apiKey'),
        name: body.name,
        scopes: body.scopes,
        projectId: grant.projectId,
        createdAt: now,
        createdBy: principal.id,
        expiresAt: new Date(now.getTime() + body.expires_in_days * DAY_MS),
      })
      await storeNew(request, ({ apiKeys }) => apiKeys, document, 'api_key.create')
      return versionedAnswer(201, { ...showApiKey(document, now), key: key.reveal() })
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
    body: ApiKeyPatch,
    answers: { 200: { description: 'The renamed key', schema: ApiKey } },
    honoursIfMatch: true,
    async handle(request) {
      const changed = await changeKey(request, 'api_key.change', () => request.body)
      return versionedAnswer(200, showApiKey(changed, request.now))
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
    answers: { 204: { description: 'The key is revoked, also if it was revoked before' } },
    refusals: ['last_admin_key'],
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

const HOUR_MS = 3_600_000

/** POST /v1/api-keys/{id}/rotate */
export function rotateKeyRoute(): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/api-keys/{id}/rotate',
    operationId: 'rotateApiKey',
    tag: 'API keys',
    summary: 'Replace an API key by a new one with the same id, name and scopes',
    description:
      'The previous key is accepted until the overlap ends (24 hours by default) or it expires; `previous.last_used_at` shows whether it is still in use. A key that is older than these two is refused immediately. Only this answer shows the new key.',
    scope: 'admin',
    body: ApiKeyRotation,
    answers: { 200: { description: 'The key', schema: CreatedApiKey, shownOnce: ['key'] } },
    refusals: ['conflict'],
    async handle(request) {
      const { params, body, now } = request
      const key = generateApiKey()
      const expiresAt = new Date(now.getTime() + body.expires_in_days * DAY_MS)
      const next = { hash: hashApiKey(key), hint: hintOf(key), expiresAt }
      const changed = await changeKey({ ...request, ifMatch: undefined }, 'api_key.rotate', document => {
        const rotation = rotateKey(document, next, body.overlap_hours * HOUR_MS, now)
        if (rotation.kind === 'rotated') return rotation.fields
        throw new AppError('conflict', `API key ${params.id} is revoked; create a new key`)
      })
      return versionedAnswer(200, { ...showApiKey(changed, now), key: key.reveal() })
    },
  })
}

/** Changes an API key with its audit row, if it still has the version that was read. */
export function changeKey(
  request: Pick<
    RouteRequest<{ readonly id: string }, never, never>,
    'change' | 'params' | 'principal' | 'now' | 'ifMatch'
  >,
  action: string,
  next: VersionedChange<ApiKeyDocument>['next'],
): Promise<ApiKeyDocument> {
  const { id } = request.params
  return changeAudited(request, action, ({ apiKeys }) => ({
    collection: apiKeys,
    find: () => findInProject(apiKeys, request.principal, 'API key', id),
    what: `API key ${id}`,
    next,
  }))
}
