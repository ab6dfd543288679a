import { connect } from 'node:net'
import type { AuditEntry } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { createTestKey, createTestProject } from './test-project.ts'

export function describeAudit(testApi: () => TestApi): void {
  const api = () => testApi().api

  describe('the audit', () => {
    test('lists who changed what, newest first, and can be filtered', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const made = await api().post('/v1/alert-channels', {
        project_id: projectId,
        name: 'Ops',
        events: ['run.failed'],
        config: { kind: 'email', to: ['a@b.test'] },
      })
      await api().call('DELETE', `/v1/alert-channels/${made.body.channel_id}`)
      const { status, body } = await api().get(`/v1/audit?project_id=${projectId}`)
      expect(status).toBe(200)
      const actions = body.data.map(({ action, target }: Record<string, string>) => `${action} ${target}`)
      expect(actions.slice(0, 2)).toEqual([
        `alert_channel.delete ${made.body.channel_id}`,
        `alert_channel.create ${made.body.channel_id}`,
      ])
      expect(actions).toContain(`connection.create ${processorId}`)
      const ofChannel = (await api().get(`/v1/audit?target=${made.body.channel_id}`)).body.data
      expect(ofChannel).toHaveLength(2)
      expect(ofChannel[1]).toEqual({
        audit_id: expect.any(String),
        at: expect.any(String),
        key_id: 'key_bootstrap',
        action: 'alert_channel.create',
        target: made.body.channel_id,
        project_id: projectId,
        request_id: made.headers.get('x-request-id'),
        address: '127.0.0.1',
      })
    })

    test('shows rows without a project only to keys for all projects', async () => {
      const { projectId } = await createTestProject(api())
      const friend = api().withKey(await createTestKey(api(), ['admin'], projectId))
      const listed = (await friend.get('/v1/audit')).body.data
      expect(listed.length).toBeGreaterThan(0)
      expect(new Set(listed.map((row: { project_id: string }) => row.project_id))).toEqual(new Set([projectId]))
    })

    test('shows who was refused, with the code, the count and the operations', async () => {
      const { projectId } = await createTestProject(api())
      const other = await createTestProject(api())
      const key = await createTestKey(api(), ['read'], projectId)
      const reader = api().withKey(key)
      const { request_id } = (await reader.get(`/v1/projects/${other.projectId}`)).body
      await reader.get(`/v1/projects/${other.projectId}/connections`)
      await reader.post('/v1/projects', { name: 'x' })
      await reader.get('/v1/projects?limit=0')
      const keyId = (await api().get(`/v1/api-keys?limit=1`)).body.data[0].key_id
      const refusals = async () =>
        (await api().get(`/v1/audit?project_id=${projectId}`)).body.data.filter(
          (row: AuditEntry) => row.key_id === keyId,
        )
      await until('the rows', async () => (await refusals()).length >= 3)
      const rows: AuditEntry[] = await refusals()
      expect(new Set(rows.map(({ action }) => action))).toEqual(
        new Set(['refused.not_found', 'refused.forbidden', 'refused.invalid_request']),
      )
      const foreign = rows.filter(({ action }) => action === 'refused.not_found')
      // The refusals may be in two rows, because a minute may have ended between them.
      expect(foreign.reduce((sum, { count = 0 }) => sum + count, 0)).toBe(2)
      expect(foreign.at(-1)).toMatchObject({
        request_id,
        target: 'getProject',
        project_id: projectId,
        address: '127.0.0.1',
        key_hint: null,
        last_at: expect.any(String),
      })
      expect(foreign.flatMap(({ operations = [] }) => operations).toSorted()).toEqual(['getProject', 'listConnections'])
    })

    test('shows unknown keys by their beginning and address, and revoked keys by their id', async () => {
      const { projectId } = await createTestProject(api())
      const made = await api().post('/v1/api-keys', { name: 'x', scopes: ['read'] })
      await api().delete(`/v1/api-keys/${made.body.key_id}`)
      await api().withKey(made.body.key).get(`/v1/projects/${projectId}`)
      await api().withKey('bsk_unkn0123456789012345678901234567890123').get(`/v1/projects/${projectId}`)
      await api().withKey('short-secret').get(`/v1/projects/${projectId}`)
      await api().withKey(undefined).post('/v1/mail-events/postmark/a-token-that-is-wrong', {})
      const rows = async (): Promise<AuditEntry[]> => (await api().get('/v1/audit?limit=200')).body.data
      const find = (part: Partial<AuditEntry>) =>
        until('the row', async () => (await rows()).find(row => expect.objectContaining(part).asymmetricMatch(row)))
      await find({ action: 'refused.unauthenticated', key_id: made.body.key_id, count: 1 })
      await find({ action: 'refused.unauthenticated', key_id: null, key_hint: 'bsk_unkn', address: '127.0.0.1' })
      await find({ action: 'refused.unauthenticated', key_id: null, key_hint: null, address: '127.0.0.1' })
      await find({ action: 'refused.not_found', key_id: null, operations: ['reportMailEvent'] })
      expect(JSON.stringify(await rows())).not.toMatch(/short-se|bsk_unkn0|that-is-wrong/)
    })

    test('records two Authorization headers and a wrong method, but no unknown path', async () => {
      await api().get('/v1/nowhere')
      await sendTwoAuthorizations(api().url)
      await api().call('PUT', '/v1/unsubscribe/a-token-of-somebody')
      await api().call('PUT', '/v1/projects')
      const rows = async (): Promise<AuditEntry[]> => (await api().get('/v1/audit?limit=200')).body.data
      const operationsOf = (action: string) => async () =>
        (await rows()).filter(row => row.action === action && row.key_id === null).flatMap(row => row.operations ?? [])
      await expect.poll(operationsOf('refused.invalid_request'), { timeout: 15_000 }).toContain('none')
      await expect
        .poll(operationsOf('refused.method_not_allowed'), { timeout: 15_000 })
        .toEqual(expect.arrayContaining(['/v1/unsubscribe/{token}', '/v1/projects']))
      const told = JSON.stringify(await rows())
      expect(told).not.toContain('nowhere')
      expect(told).not.toContain('a-token-of-somebody')
    })
  })
}

/** Sends two Authorization headers. fetch would join them into one. */
function sendTwoAuthorizations(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', reject).on('close', () => resolve())
    socket.resume()
    socket.write(
      'GET /v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\nConnection: close\r\n\r\n',
    )
  })
}
