import { HEARTBEAT } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { openHeartbeatConnection } from '../../src/heartbeat/heartbeat-connection.ts'
import { secretBoxOfTests, type TestApi } from '../test-api.ts'

export function describeHeartbeat(testApi: () => TestApi): void {
  const { projectId, connectionId, channelId } = HEARTBEAT
  const project = `/v1/projects/${projectId}`
  const connection = `${project}/connections/${connectionId}`
  const channel = `/v1/alert-channels/${channelId}`

  describe('what belongs to the heartbeat cannot be changed, also by a key for all projects:', () => {
    test.each<{ name: string; method: 'POST' | 'PATCH' | 'DELETE'; path: string; body?: object }>([
      { name: 'its project', method: 'PATCH', path: project, body: { archived: true } },
      { name: 'the setting of its connection', method: 'PATCH', path: connection, body: { out_of_band: 'ignore' } },
      { name: 'its connection', method: 'DELETE', path: connection },
      { name: 'the secret of its connection', method: 'POST', path: `${connection}/rotate-secret`, body: {} },
      { name: 'its channel', method: 'PATCH', path: channel, body: { enabled: false } },
      { name: 'the existence of its channel', method: 'DELETE', path: channel },
      { name: 'the secret of its channel', method: 'POST', path: `${channel}/rotate-secret`, body: {} },
      {
        name: 'a silence of its connection',
        method: 'POST',
        path: '/v1/silences',
        body: { project_id: projectId, connection_id: connectionId, reason: 'x', duration_seconds: 3_600 },
      },
      {
        name: 'an expected change of its refunds',
        method: 'POST',
        path: '/v1/expected-changes',
        body: { project_id: projectId, kind: 'refund', note: 'x' },
      },
    ])('$name', async ({ method, path, body }) => {
      const { api, stores, now } = testApi()
      await stores.transaction(collections =>
        openHeartbeatConnection({ stores: collections, secretBox: secretBoxOfTests }, new Date(now())),
      )
      const answer = await api.call(method, path, { body })
      expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } })
      expect(answer.body.detail).toContain('belongs to the heartbeat')
    })
  })
}
