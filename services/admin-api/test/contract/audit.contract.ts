import { describe, expect, test } from 'vitest'
import type { AdminWorld } from '../admin-world.ts'
import { openKey, openProject } from './project-of-its-own.ts'

export function describeAudit(world: () => AdminWorld): void {
  const api = () => world().api

  describe('the audit', () => {
    test('lists who changed what, newest first, and whatever was narrowed to', async () => {
      const { projectId, processorId } = await openProject(api())
      const made = await api().post('/v1/alert-channels', {
        project_id: projectId,
        name: 'Ops',
        events: ['run.failed'],
        config: { kind: 'email', to: ['a@b.test'] },
      })
      await api().call('DELETE', `/v1/alert-channels/${made.body.id}`)
      const { status, body } = await api().get(`/v1/audit?project_id=${projectId}`)
      expect(status).toBe(200)
      const actions = body.data.map(({ action, target }: Record<string, string>) => `${action} ${target}`)
      expect(actions.slice(0, 2)).toEqual([
        `alert_channel.delete ${made.body.id}`,
        `alert_channel.create ${made.body.id}`,
      ])
      expect(actions).toContain(`connection.create ${processorId}`)
      const ofChannel = (await api().get(`/v1/audit?target=${made.body.id}`)).body.data
      expect(ofChannel).toHaveLength(2)
      expect(ofChannel[1]).toEqual({
        audit_id: expect.any(String),
        at: expect.any(String),
        key_id: 'key_bootstrap',
        action: 'alert_channel.create',
        target: made.body.id,
        project_id: projectId,
        request_id: made.headers.get('x-request-id'),
        address: '127.0.0.1',
      })
    })

    test('of what belongs to no project is for keys of all projects alone', async () => {
      const { projectId } = await openProject(api())
      const friend = api().as(await openKey(api(), ['admin'], projectId))
      const listed = (await friend.get('/v1/audit')).body.data
      expect(listed.length).toBeGreaterThan(0)
      expect(new Set(listed.map((row: { project_id: string }) => row.project_id))).toEqual(new Set([projectId]))
    })
  })
}
