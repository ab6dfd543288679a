import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { auditOf } from './test-project.ts'

const DAY_MS = 86_400_000

export function describeDemoProjects(testApi: () => TestApi): void {
  const api = () => testApi().api
  const openDemo = async (): Promise<string> =>
    (await api().post('/v1/projects', { name: 'Example', demo: true })).body.project_id
  const daysAgo = (days: number) => new Date(testApi().now() - days * DAY_MS).toISOString()

  describe('a demo project', () => {
    test('is marked as one, and other projects are not', async () => {
      const demo = await api().post('/v1/projects', { name: 'Example', demo: true })
      expect(demo).toMatchObject({ status: 201, body: { demo: true } })
      expect((await api().get(`/v1/projects/${demo.body.project_id}`)).body).toEqual(demo.body)
      expect((await api().post('/v1/projects', { name: 'Shop' })).body.demo).toBe(false)
    })

    test('is removed by one call, with its connections and channels', async () => {
      const id = await openDemo()
      const connections = `/v1/projects/${id}/connections`
      const connected = await api().post(connections, { kind: 'processor', name: 'Cards' })
      const config = { kind: 'webhook', url: 'https://hooks.example.test/in' }
      const channel = await api().post('/v1/alert-channels', {
        project_id: id,
        name: 'Team',
        events: ['incident.opened'],
        config,
      })
      expect((await api().delete(`/v1/projects/${id}`)).status).toBe(204)
      expect((await api().get(`/v1/projects/${id}`)).body.archived_at).toEqual(expect.any(String))
      expect((await api().get(connections)).body.data).toEqual([])
      expect((await api().get(`/v1/alert-channels/${channel.body.channel_id}`)).status).toBe(404)
      expect(await auditOf(testApi(), connected.body.connection_id)).toMatchObject([
        { action: 'connection.create' },
        { action: 'connection.delete' },
      ])
      expect((await api().delete(`/v1/projects/${id}`)).status).toBe(409)
    })

    test('may have connections that judge earlier changes, within 31 days', async () => {
      const path = `/v1/projects/${await openDemo()}/connections`
      const connect = (connected_at: string) => api().post(path, { kind: 'processor', name: 'Cards', connected_at })
      const connectedAt = daysAgo(6)
      expect(await connect(connectedAt)).toMatchObject({ status: 201, body: { created_at: connectedAt } })
      for (const refused of [daysAgo(32), daysAgo(-1)]) {
        expect(await connect(refused)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      }
    })
  })

  test('a project that is no demo is not removed by one call, and has no earlier connections', async () => {
    const { project_id: id } = (await api().post('/v1/projects', { name: 'Shop' })).body
    expect(await api().delete(`/v1/projects/${id}`)).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: expect.stringContaining('is no demo') },
    })
    const connection = { kind: 'processor', name: 'Cards', connected_at: daysAgo(1) }
    const refused = await api().post(`/v1/projects/${id}/connections`, connection)
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'body.connected_at' }] } })
  })
}
