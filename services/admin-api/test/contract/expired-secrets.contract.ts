import { expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { createTestProject } from './test-project.ts'

const HOUR_MS = 3_600_000

export function describeExpiredSecrets(testApi: () => TestApi): void {
  test('replaced secrets of a channel and of a connection are erased only after their overlap', async () => {
    const { api, stores, expiredSecrets } = testApi()
    const { projectId } = await createTestProject(api)
    const config = { kind: 'webhook', url: 'https://hooks.example.test/in', secret: 'the first' }
    const fields = { project_id: projectId, name: 'Ops', events: ['incident.opened'], config }
    const channelPath = `/v1/alert-channels/${(await api.post('/v1/alert-channels', fields)).body.channel_id}`
    const connections = `/v1/projects/${projectId}/connections`
    const { connection_id } = (await api.post(connections, { kind: 'processor', name: 'Cards' })).body
    const connectionPath = `${connections}/${connection_id}`
    await api.post(`${channelPath}/rotate-secret`, { overlap_hours: 2 })
    await api.post(`${connectionPath}/rotate-secret`, { overlap_seconds: 7_200 })
    const stored = async () => ({
      channel: await stores.channels.find({ project_id: projectId }),
      connection: await stores.connections.find({ _id: connection_id }),
    })
    const at = (ms: number) => new Date(testApi().now() + ms)
    const before = await stored()

    await expiredSecrets.erase(at(HOUR_MS))
    expect(await stored()).toEqual(before)

    expect(await expiredSecrets.erase(at(3 * HOUR_MS))).toBeGreaterThanOrEqual(2)
    expect(await stored()).toEqual({
      channel: { ...before.channel, config: { ...before.channel?.config, previous_secret: null } },
      connection: { ...before.connection, inbound_secrets: before.connection?.inbound_secrets.slice(0, 1) },
    })
    expect(before.connection?.inbound_secrets).toHaveLength(2)
    expect(await expiredSecrets.erase(at(3 * HOUR_MS))).toBe(0)
    // Only the secret in use remains. The version is unchanged.
    expect((await api.get(channelPath)).headers.get('etag')).toBe('"2"')
  })
}
