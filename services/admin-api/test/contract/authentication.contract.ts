import { until } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { createTestKey, createTestProject, STORED_AFTER_MS } from './test-project.ts'

const DAY_MS = 86_400_000

export function describeAuthentication(testApi: () => TestApi): void {
  describe('API keys', () => {
    const refused = [
      { name: 'no header at all', authorization: undefined, detail: /Send an API key/ },
      { name: 'another scheme', authorization: 'Basic c2VydmljZTp4', detail: /must be: Bearer/ },
      { name: 'a scheme without a key', authorization: 'Bearer ', detail: /must be: Bearer/ },
      { name: 'an unknown key', authorization: 'Bearer no-such-key-0123456789', detail: /Unknown API key/ },
      { name: 'a mistyped key', authorization: `Bearer bsk_${'A'.repeat(36)}`, detail: /mistyped or incomplete/ },
      { name: 'an empty key', authorization: 'Bearer', detail: /must be: Bearer/ },
    ]
    test.each(refused)('$name is answered 401 with the scheme to use', async ({ authorization, detail }) => {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
      const answer = await testApi().api.withKey(undefined).call('GET', '/v1/projects', { headers })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      expect(answer.body).toMatchObject({ code: 'unauthenticated', status: 401, detail: expect.stringMatching(detail) })
    })

    test('the scheme is accepted in any case', async () => {
      const key = await createTestKey(testApi().api, ['read'])
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
        const headers = { authorization: `${scheme} ${key}` }
        expect((await testApi().api.withKey(undefined).call('GET', '/v1/projects', { headers })).status).toBe(200)
      }
    })

    test('a key is shown once, and is listed by its beginning without its hash', async () => {
      const made = await testApi().api.post('/v1/api-keys', { name: 'Agent', scopes: ['read'] })
      expect(made.status).toBe(201)
      expect(made.body.key).toMatch(/^bsk_[0-9A-Za-z]{36}$/)
      const { body } = await testApi().api.get('/v1/api-keys?limit=1')
      expect(body.data[0]).toEqual({
        key_id: made.body.key_id,
        name: 'Agent',
        hint: made.body.key.slice(0, 8),
        scopes: ['read'],
        project_id: null,
        state: 'active',
        created_at: made.body.created_at,
        created_by: 'key_bootstrap',
        expires_at: made.body.expires_at,
        last_used_at: null,
        rotated_at: null,
        previous: null,
        revoked_at: null,
        revoked_by: null,
        version: 1,
        updated_at: made.body.created_at,
      })
      expect(Date.parse(made.body.expires_at) - Date.parse(made.body.created_at)).toBe(90 * DAY_MS)
    })

    test('a key is refused from the moment it expires', async () => {
      const made = await testApi().api.post('/v1/api-keys', { name: 'Short', scopes: ['read'], expires_in_days: 1 })
      const short = testApi().api.withKey(made.body.key)
      expect((await short.get('/v1/projects')).status).toBe(200)
      testApi().advanceClock(DAY_MS)
      expect(await short.get('/v1/projects')).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    })

    test('a key is refused as soon as it is revoked', async () => {
      const made = await testApi().api.post('/v1/api-keys', { name: 'Leaked', scopes: ['read'] })
      const leaked = testApi().api.withKey(made.body.key)
      expect((await leaked.get('/v1/projects')).status).toBe(200)
      expect((await testApi().api.delete(`/v1/api-keys/${made.body.key_id}`)).status).toBe(204)
      expect((await leaked.get('/v1/projects')).status).toBe(401)
    })

    test('its last use is recorded at most once a minute', async () => {
      const make = async (name: string) => {
        const { body } = await testApi().api.post('/v1/api-keys', { name, scopes: ['read'] })
        const use = () => testApi().api.withKey(body.key).get('/v1/projects')
        const lastUsed = async () => (await testApi().stores.apiKeys.find({ _id: body.key_id }))?.last_used_at
        return { use, lastUsed }
      }
      const [busy, later] = [await make('Busy'), await make('Used later')]
      await busy.use()
      testApi().advanceClock(STORED_AFTER_MS)
      const first = await until('the use to be noted', busy.lastUsed)
      testApi().advanceClock(40_000)
      await busy.use()
      await later.use()
      testApi().advanceClock(STORED_AFTER_MS)
      // Uses are stored in their order.
      await until('the use of the other key', later.lastUsed)
      expect(await busy.lastUsed()).toEqual(first)
      testApi().advanceClock(20_000)
      await busy.use()
      testApi().advanceClock(STORED_AFTER_MS)
      await until('the later use to be noted', async () => (await busy.lastUsed())?.getTime() !== first.getTime())
    })

    test('a bound key creates keys only for its own project, and sees no others', async () => {
      const { projectId } = await createTestProject(testApi().api)
      const other = await createTestProject(testApi().api)
      const bound = testApi().api.withKey(await createTestKey(testApi().api, ['admin'], projectId))
      const made = await bound.post('/v1/api-keys', { name: 'x', scopes: ['read'] })
      expect(made.body.project_id).toBe(projectId)
      const foreign = await bound.post('/v1/api-keys', { name: 'x', scopes: ['read'], project_id: other.projectId })
      expect(foreign.status).toBe(404)
      const { body } = await bound.get('/v1/api-keys')
      expect(new Set(body.data.map((key: { project_id: string }) => key.project_id))).toEqual(new Set([projectId]))
    })

    test('a key for a project that does not exist is not created', async () => {
      const answer = await testApi().api.post('/v1/api-keys', { name: 'x', scopes: ['read'], project_id: 'prj_none' })
      expect(answer).toMatchObject({ status: 404, body: { detail: 'There is no project prj_none' } })
    })
  })
}
