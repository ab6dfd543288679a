import type { Command } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { until } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { authenticateKey } from '../../src/access/authenticate.ts'
import type { UseRecorder } from '../../src/access/use-recorder.ts'
import { reportRecoveries, warnOfExpiry } from '../../src/resources/api-keys/warn-of-expiry.ts'
import type { TestApi } from '../test-api.ts'
import { createTestKey, createTestProject, STORED_AFTER_MS } from './test-project.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export function describeApiKeys(testApi: () => TestApi): void {
  const api = () => testApi().api
  const createKey = async (more: object = {}) => {
    const { body } = await api().post('/v1/api-keys', { name: 'Agent', scopes: ['read'], ...more })
    return { keyId: body.key_id as string, path: `/v1/api-keys/${body.key_id}`, client: api().withKey(body.key) }
  }

  describe('the life of an API key', () => {
    test('it can be read and renamed, and a rename for an older version is refused', async () => {
      const { path } = await createKey()
      const read = await api().get(path)
      expect(read).toMatchObject({ status: 200, body: { name: 'Agent', state: 'active', version: 1 } })
      expect(read.headers.get('etag')).toBe('"1"')
      const renamed = await api().patch(path, { name: 'Billing job' }, { 'if-match': '"1"' })
      expect(renamed).toMatchObject({ status: 200, body: { name: 'Billing job', version: 2 } })
      expect((await api().patch(path, { name: 'Other' }, { 'if-match': '"1"' })).status).toBe(412)
    })

    test('a revoked key stays readable and listed, with who revoked it, and is revoked again without a second row', async () => {
      const { path, keyId } = await createKey()
      await api().delete(path)
      const revoked = { key_id: keyId, state: 'revoked', revoked_by: 'key_bootstrap', revoked_at: expect.any(String) }
      expect((await api().get(path)).body).toMatchObject(revoked)
      expect((await api().get('/v1/api-keys')).body.data).toContainEqual(expect.objectContaining(revoked))
      expect((await api().delete(path)).status).toBe(204)
      const rows = (await api().get(`/v1/audit?target=${keyId}`)).body.data
      expect(rows.map(({ action }: { action: string }) => action)).toEqual(['api_key.revoke', 'api_key.create'])
    })

    test('after a rotation both keys are accepted until the overlap ends, and then only the new one', async () => {
      const { path, client } = await createKey()
      const rotated = await api().post(`${path}/rotate`, { overlap_hours: 2, expires_in_days: 30 })
      expect(rotated.status).toBe(200)
      expect(rotated.body.key).toMatch(/^bsk_[0-9A-Za-z]{36}$/)
      expect(Date.parse(rotated.body.expires_at) - Date.parse(rotated.body.rotated_at)).toBe(30 * DAY_MS)
      const next = api().withKey(rotated.body.key)
      expect((await client.get('/v1/projects')).status).toBe(200)
      expect((await next.get('/v1/projects')).status).toBe(200)
      // The use of the previous key shows that some software still has it.
      testApi().advanceClock(STORED_AFTER_MS)
      await until('the use of both keys', async () => {
        const { body } = await api().get(path)
        return body.last_used_at !== null && body.previous?.last_used_at != null
      })
      testApi().advanceClock(2 * HOUR_MS)
      expect(await client.get('/v1/projects')).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
      expect((await next.get('/v1/projects')).status).toBe(200)
      expect((await api().get(path)).body.previous).toBeNull()
    })

    test('a use of the previous key that is stored late does not undo a shortened overlap', async () => {
      const made = await api().post('/v1/api-keys', { name: 'Agent', scopes: ['read'] })
      const path = `/v1/api-keys/${made.body.key_id}`
      await api().post(`${path}/rotate`, { overlap_hours: 24 })
      const writes: ((usedAt: Date) => Promise<unknown>)[] = []
      const uses = { record: (...[, , write]: Parameters<UseRecorder['record']>) => void writes.push(write) }
      const now = new Date(testApi().now())
      await authenticateKey(new Secret(made.body.key), { stores: testApi().stores, uses }, now)
      await api().post(`${path}/rotate`, { overlap_hours: 1 })
      const shortened = (await api().get(path)).body.previous.expires_at
      expect(Date.parse(shortened)).toBeLessThan(now.getTime() + 2 * HOUR_MS)
      for (const write of writes) await write(now)
      expect((await api().get(path)).body.previous.expires_at).toBe(shortened)
    })

    test('a revocation ends the overlap, and a revoked key cannot be rotated', async () => {
      const { path, client } = await createKey()
      const { body } = await api().post(`${path}/rotate`, {})
      await api().delete(path)
      expect((await client.get('/v1/projects')).status).toBe(401)
      expect((await api().withKey(body.key).get('/v1/projects')).status).toBe(401)
      expect(await api().post(`${path}/rotate`, {})).toMatchObject({ status: 409, body: { code: 'conflict' } })
    })

    test('a repeated rotation does not show the key again, and does not rotate again', async () => {
      const { path } = await createKey()
      const headers = { 'idempotency-key': `rotate-${path}` }
      const first = await api().post(`${path}/rotate`, {}, headers)
      const repeat = await api().post(`${path}/rotate`, {}, headers)
      expect(first.body.key).toMatch(/^bsk_/)
      expect(repeat).toMatchObject({ status: 200, body: { hint: first.body.hint, version: 2 } })
      expect(repeat.body.key).toBeUndefined()
    })

    test('keys are listed by project', async () => {
      const { projectId } = await createTestProject(api())
      await createTestKey(api(), ['read'], projectId)
      const { body } = await api().get(`/v1/api-keys?project_id=${projectId}`)
      expect(body.data.map(({ project_id }: { project_id: string }) => project_id)).toEqual([projectId])
    })
  })

  test('a recovered admin key is reported once in every project, with who created it', async () => {
    const [first, second] = [await createTestProject(api()), await createTestProject(api())]
    const { keyId } = await createKey({})
    const { apiKeys } = testApi().stores
    await apiKeys.change({ _id: keyId }, { unreported_recovery: 'ada@laptop' })
    const sent: Command[] = []
    const commands = { send: async (batch: readonly Command[]) => void sent.push(...batch) }
    const look = () => reportRecoveries({ stores: testApi().stores, commands }, new Date(testApi().now()))
    expect(await look()).toEqual([keyId])
    for (const { projectId } of [first, second]) {
      expect(sent.filter(({ project_id }) => project_id === projectId)).toEqual([
        expect.objectContaining({ kind: 'open_recovered_key_incident', key_id: keyId, operator: 'ada@laptop' }),
      ])
    }
    expect(await look()).toEqual([])
  })

  describe('a key that expires soon', () => {
    const sent: Command[] = []
    const commands = { send: async (batch: readonly Command[]) => void sent.push(...batch) }
    const look = async (now = new Date(testApi().now())) => {
      sent.length = 0
      await warnOfExpiry({ stores: testApi().stores, commands }, now)
      return [...sent]
    }
    const about = (all: readonly Command[], keyId: string) =>
      all.filter(command => 'key_id' in command && command.key_id === keyId)

    test('is reported once in its project, and the incident ends with its rotation', async () => {
      const { projectId } = await createTestProject(api())
      const { keyId, path } = await createKey({ project_id: projectId, expires_in_days: 8 })
      expect(about(await look(), keyId)).toEqual([])
      const later = new Date(testApi().now() + 6.5 * DAY_MS)
      const opened = about(await look(later), keyId)
      expect(opened).toEqual([
        expect.objectContaining({ kind: 'open_key_incident', project_id: projectId, key_name: 'Agent' }),
      ])
      expect(about(await look(later), keyId)).toEqual([])
      await api().post(`${path}/rotate`, {})
      expect(about(await look(later), keyId)).toEqual([
        expect.objectContaining({
          kind: 'resolve_key_incident',
          outcome: 'rotated',
          incident_id: (opened[0] as { incident_id: string }).incident_id,
        }),
      ])
      expect(about(await look(later), keyId)).toEqual([])
    })

    test('is reported, and its incident ends, also if 200 keys that were reported expire later', async () => {
      const { projectId } = await createTestProject(api())
      const { keyId, path } = await createKey({ project_id: projectId, expires_in_days: 30 })
      const { apiKeys } = testApi().stores
      const key = await apiKeys.find({ _id: keyId })
      if (key?.expires_at == null) throw new Error('the key has no expiry')
      const expires_at = new Date(key.expires_at.getTime() + HOUR_MS)
      const others = Array.from({ length: 201 }, (_, index) => `${keyId}${index}`)
      for (const id of others) {
        await apiKeys.put({ ...key, _id: id, hash: id, expires_at, warned_expiry: expires_at })
      }
      const later = new Date(key.expires_at.getTime() - HOUR_MS)
      const opened = about(await look(later), keyId)
      await api().delete(path)
      const ended = about(await look(later), keyId)
      for (const id of others) await apiKeys.remove({ _id: id })
      expect(opened).toEqual([expect.objectContaining({ kind: 'open_key_incident' })])
      expect(ended).toEqual([expect.objectContaining({ kind: 'resolve_key_incident', outcome: 'revoked' })])
    })

    test('is reported in every project if it works in all of them, and ends when it is revoked', async () => {
      const [first, second] = [await createTestProject(api()), await createTestProject(api())]
      const { keyId, path } = await createKey({ expires_in_days: 1 })
      const later = new Date(testApi().now() + 20 * HOUR_MS)
      const projects = about(await look(later), keyId).map(({ project_id }) => project_id)
      expect(projects).toEqual(expect.arrayContaining([first.projectId, second.projectId]))
      await api().delete(path)
      const ended = about(await look(later), keyId)
      expect(ended).toHaveLength(projects.length)
      expect(ended[0]).toMatchObject({ kind: 'resolve_key_incident', outcome: 'revoked' })
    })
  })
}
