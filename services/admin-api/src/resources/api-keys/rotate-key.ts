import { ApiKeyRotation, CreatedApiKey } from '@backstop/contracts'
import { generateApiKey, hashApiKey, hintOf } from '@backstop/kit/api-key'
import { AppError } from '@backstop/kit/errors'
import { defineRoute, type Route, versionedAnswer } from '../../http/route.ts'
import { changeKey } from './change-key.ts'
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
