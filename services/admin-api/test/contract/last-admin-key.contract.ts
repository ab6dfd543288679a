/** These tests use their own API, because they revoke keys that other tests need. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer, ApiClient } from '../api-client.ts'
import type { TestApi } from '../test-api.ts'
import { createTestProject } from './test-project.ts'

const DAY_MS = 86_400_000

interface AdminKey {
  readonly id: string
  readonly api: ApiClient
}

export function describeLastAdminKey(name: string, open: () => Promise<TestApi>): void {
  describe(`the last usable admin key over ${name}`, () => {
    let testApi: TestApi
    /** Between two tests, this is the only key that administers all projects. */
    let last: AdminKey
    beforeAll(async () => {
      testApi = await open()
      last = { id: 'key_bootstrap', api: testApi.api }
    })
    afterAll(() => testApi?.stop())

    const makeKey = async (more: object = {}): Promise<AdminKey> => {
      const { body } = await last.api.post('/v1/api-keys', { name: 'x', scopes: ['admin'], ...more })
      return { id: body.key_id, api: testApi.api.withKey(body.key) }
    }
    const revoke = ({ api }: AdminKey, { id }: AdminKey): Promise<Answer> => api.delete(`/v1/api-keys/${id}`)
    const expectRefusal = (answer: Answer) =>
      expect(answer).toMatchObject({
        status: 409,
        body: { code: 'last_admin_key', title: 'Last admin key', detail: expect.stringMatching(/make another/) },
      })

    test('cannot be revoked until another usable admin key exists', async () => {
      expectRefusal(await revoke(last, last))
      expect((await last.api.get('/v1/projects')).status).toBe(200)
      const next = await makeKey()
      expect((await revoke(last, last)).status).toBe(204)
      expect((await last.api.get('/v1/projects')).status).toBe(401)
      last = next
    })

    test('cannot be revoked if all others are expired, bound to a project or without the scope admin', async () => {
      const { projectId } = await createTestProject(last.api)
      await makeKey({ scopes: ['read', 'manage'] })
      const bound = await makeKey({ project_id: projectId })
      const short = await makeKey({ expires_in_days: 1 })
      const lasting = await makeKey({ expires_in_days: 30 })
      testApi.advanceClock(DAY_MS)
      expect((await revoke(last, lasting)).status).toBe(204)
      expectRefusal(await revoke(last, last))
      expect((await revoke(last, short)).status).toBe(204)
      expect((await revoke(last, bound)).status).toBe(204)
    })

    test('remains if several are revoked at the same moment', async () => {
      for (let round = 0; round < 5; round++) {
        const keys = [last, await makeKey(), await makeKey(), await makeKey()]
        const answers = await Promise.all(keys.map(key => revoke(key, key)))
        expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 204, 204, 409])
        last = keys[answers.findIndex(({ status }) => status === 409)] as AdminKey
        expect((await last.api.get('/v1/projects')).status).toBe(200)
      }
    })
  })
}
