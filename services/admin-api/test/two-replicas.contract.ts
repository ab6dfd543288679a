/** Two replicas of admin-api over one database: each enforces at once what the other one changed. */
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AdminApp } from '../src/app.ts'
import { type ApiClient, createApiClient } from './api-client.ts'
import { createTestPerson, createTestProject, signIn } from './contract/test-project.ts'
import { createTestApp, type TestApi } from './test-api.ts'

export function describeTwoReplicas(name: string, open: () => Promise<TestApi>): void {
  describe(`two replicas over ${name}`, () => {
    let first: TestApi
    let second: AdminApp
    let other: ApiClient
    beforeAll(async () => {
      first = await open()
      second = createTestApp({ stores: first.stores })
      await second.start()
      await until('the second replica to be ready', async () => second.unready() === undefined)
      other = createApiClient(`http://127.0.0.1:${second.port()}`, undefined)
    })
    afterAll(async () => {
      await second?.stop()
      await first?.stop()
    })

    test('a channel that was tested at one replica is not tested again at the other, nor by many requests at once', async () => {
      const { api } = first
      const { projectId } = await createTestProject(api)
      const config = { kind: 'webhook', url: 'https://hooks.example.test/in' }
      const made = await api.post('/v1/alert-channels', {
        project_id: projectId,
        name: 'x',
        events: ['run.failed'],
        config,
      })
      const path = `/v1/alert-channels/${made.body.channel_id}/test`
      const answers = await Promise.all(Array.from({ length: 8 }, () => api.post(path)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(429)])
      const key = (await api.post('/v1/api-keys', { name: 'x', scopes: ['manage'] })).body.key
      const refused = await other.withKey(key).post(path)
      expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
      const retryAfterS = Number(refused.headers.get('retry-after'))
      expect(retryAfterS).toBeGreaterThan(0)
      expect(retryAfterS).toBeLessThanOrEqual(10)
    })

    test('a revoked key, a lowered role and an ended session are refused by the other replica', async () => {
      const { api } = first
      const { projectId } = await createTestProject(api)
      const made = await api.post('/v1/api-keys', { name: 'x', scopes: ['read'] })
      const key = other.withKey(made.body.key)
      const bySession = (cookie: string) => other.withHeaders({ cookie, 'sec-fetch-site': 'same-origin' })
      const person = await createTestPerson(first, [{ project_id: projectId, role: 'manager' }])
      const keySession = bySession((await signIn(api, { key: made.body.key })).cookie)
      const browser = bySession(person.cookie)
      const connections = `/v1/projects/${projectId}/connections`
      const connect = async () => (await browser.post(connections, { kind: 'processor', name: 'x' })).status
      // Each was used at the other replica before, so a cache there would still accept it.
      expect((await key.get('/v1/projects')).status).toBe(200)
      expect((await keySession.get('/v1/projects')).status).toBe(200)
      expect(await connect()).toBe(201)
      await api.patch(`/v1/people/${person.personId}`, { roles: [{ project_id: projectId, role: 'viewer' }] })
      expect(await connect()).toBe(403)
      expect((await browser.get(connections)).status).toBe(200)
      await api.delete(`/v1/sessions/${person.sessionId}`)
      expect((await browser.get(connections)).status).toBe(401)
      await api.delete(`/v1/api-keys/${made.body.key_id}`)
      expect((await key.get('/v1/projects')).status).toBe(401)
      expect((await keySession.get('/v1/projects')).status).toBe(401)
    })
  })
}
