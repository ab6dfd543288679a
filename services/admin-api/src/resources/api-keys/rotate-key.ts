import { ApiKeyRotation, CreatedApiKey } from '@backstop/contracts'
import { generateApiKey, hashApiKey, hintOf } from '@backstop/kit/api-key'
import { AppError } from '@backstop/kit/errors'
import { z } from 'zod'
import { changeVersioned } from '../../http/change-versioned.ts'
import { findInProject } from '../../http/find-resource.ts'
import { etagOf } from '../../http/if-match.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { rotateKey, showApiKey } from './rules/api-key.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

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
    params: z.object({ id: z.string() }),
    body: ApiKeyRotation,
    answers: { 200: { description: 'The key', schema: CreatedApiKey, shownOnce: ['key'] } },
    refusals: ['not_found', 'conflict'],
    async handle({ params, body, principal, now, change }) {
      const key = generateApiKey()
      const expiresAt = new Date(now.getTime() + body.expires_in_days * DAY_MS)
      const next = { hash: hashApiKey(key), hint: hintOf(key), expiresAt }
      const changed = await change(
        ({ apiKeys }) =>
          changeVersioned({
            collection: apiKeys,
            find: () => findInProject(apiKeys, principal, 'API key', params.id),
            ifMatch: undefined,
            now,
            what: `API key ${params.id}`,
            next(document) {
              const rotation = rotateKey(document, next, body.overlap_hours * HOUR_MS, now)
              if (rotation.kind === 'rotated') return rotation.fields
              throw new AppError('conflict', `API key ${params.id} is revoked; create a new key`)
            },
          }),
        ({ _id, project_id }) => ({ action: 'api_key.rotate', target: _id, projectId: project_id }),
      )
      const shown = { ...showApiKey(changed, now), key: key.reveal() }
      return { status: 200, body: shown, headers: { etag: etagOf(changed.version) } }
    },
  })
}
