import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { auditOf, createTestProject } from './test-project.ts'

export function describeArchivedProjects(testApi: () => TestApi): void {
  const api = () => testApi().api
  const listed = async (query: string): Promise<string[]> => {
    const { body } = await api().get(`/v1/projects?limit=200${query}`)
    return body.data.map(({ project_id }: { project_id: string }) => project_id)
  }
  const openEmpty = async (): Promise<string> => (await api().post('/v1/projects', { name: 'Old' })).body.project_id

  describe('an archived project', () => {
    test('leaves the list, is still read, and comes back', async () => {
      const id = await openEmpty()
      expect((await api().get(`/v1/projects/${id}`)).body.archived_at).toBeNull()
      const archived = await api().patch(`/v1/projects/${id}`, { archived: true })
      expect(archived).toMatchObject({ status: 200, body: { archived_at: expect.any(String), version: 2 } })
      expect((await api().get(`/v1/projects/${id}`)).body).toEqual(archived.body)
      expect(await listed('')).not.toContain(id)
      expect(await listed('&archived=true')).toContain(id)
      const again = await api().patch(`/v1/projects/${id}`, { archived: true })
      expect(again.body.archived_at).toBe(archived.body.archived_at)
      const back = await api().patch(`/v1/projects/${id}`, { archived: false })
      expect(back).toMatchObject({ status: 200, body: { archived_at: null } })
      expect(await listed('')).toContain(id)
      expect(await listed('&archived=true')).not.toContain(id)
      expect((await auditOf(testApi(), id)).map(({ action }) => action)).toEqual([
        'project.create',
        'project.archive',
        'project.change',
        'project.restore',
      ])
    })

    test('is refused while a connection could still alert', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const refused = await api().patch(`/v1/projects/${projectId}`, { archived: true })
      expect(refused).toMatchObject({
        status: 409,
        body: { code: 'conflict', detail: expect.stringContaining('delete its connections first') },
      })
      await api().delete(`/v1/projects/${projectId}/connections/${processorId}`)
      expect((await api().patch(`/v1/projects/${projectId}`, { archived: true })).status).toBe(200)
    })

    test('gets no connection, channel, budget or expected change', async () => {
      const id = await openEmpty()
      await api().patch(`/v1/projects/${id}`, { archived: true })
      const config = { kind: 'email', to: ['a@b.test'] }
      const budget = { name: 'x', currency: 'eur', cap: 1, interval: 'day' }
      for (const [path, body] of [
        [`/v1/projects/${id}/connections`, { kind: 'processor', name: 'x' }],
        ['/v1/alert-channels', { project_id: id, name: 'x', events: ['run.failed'], config }],
        ['/v1/budgets', { project_id: id, ...budget }],
        ['/v1/expected-changes', { project_id: id, kind: 'refund', note: 'x' }],
      ] as const) {
        const answer = await api().post(path, body)
        expect({ path, status: answer.status, code: answer.body.code }).toEqual({ path, status: 409, code: 'conflict' })
      }
    })
  })
}
