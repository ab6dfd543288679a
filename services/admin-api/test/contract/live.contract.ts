import { until } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { type EventClient, openEvents } from '../event-client.ts'
import { BOOTSTRAP_KEY, type TestApi } from '../test-api.ts'
import { deliveryDocument, storeIncident } from './incidents.contract.ts'
import { createTestKey, createTestProject } from './test-project.ts'

/** Tests of /v1/live. */
export function describeLive(testApi: () => TestApi): void {
  const api = () => testApi().api

  async function listen(options: { projectId?: string; after?: string | undefined }, key = BOOTSTRAP_KEY) {
    const client = await openEvents(api().url, key, options)
    await until('the stream to begin', () => client.lastId())
    return client
  }
  async function eventOf(client: EventClient, type: string, matches: (data: Record<string, unknown>) => boolean) {
    return until(`the event ${type}`, () => client.events().find(one => one.type === type && matches(one.data)), {
      seen: () => JSON.stringify(client.received).slice(0, 2_000),
    })
  }

  describe('a live stream', () => {
    test('reports each kind of resource as its list shows it', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const client = await listen({ projectId })
      const stored = await storeIncident(testApi(), projectId, processorId)
      const incident = await eventOf(client, 'incident', data => data.incident_id === stored.incident)
      expect(incident.data).toEqual((await api().get(`/v1/incidents?project_id=${projectId}`)).body.data[0])
      const action = await eventOf(client, 'action', data => data.action_id === stored.action)
      expect(action.data).toEqual((await api().get(`/v1/actions/${stored.action}`)).body)
      const delivery = deliveryDocument(projectId, stored.alertId, stored.at)
      await testApi().others.deliveries.put(delivery)
      const sent = await eventOf(client, 'delivery', data => data.delivery_id === delivery._id)
      expect(sent.data).toEqual((await api().get(`/v1/deliveries/${delivery._id}`)).body)
      const path = `/v1/projects/${projectId}/connections/${processorId}`
      const changed = await api().patch(path, { out_of_band: 'ignore' })
      const connection = await eventOf(client, 'connection', data => data.version === changed.body.version)
      expect(connection.data).toEqual((await api().get(path)).body)
      client.kill()
    })

    test('reports a channel when it is created, when its health changes and when it is deleted', async () => {
      const { projectId } = await createTestProject(api())
      const client = await listen({ projectId })
      const config = { kind: 'webhook', url: 'https://hooks.example.test/live' }
      const body = { project_id: projectId, name: 'x', events: ['run.failed'], config }
      const { channel_id } = (await api().post('/v1/alert-channels', body)).body
      const created = await eventOf(client, 'channel', data => data.channel_id === channel_id)
      expect(created.data).toEqual((await api().get(`/v1/alert-channels/${channel_id}`)).body)
      expect(JSON.stringify(created.data)).not.toMatch(/"secret":|sealed/)
      await testApi().others.channelHealth.put({
        _id: channel_id,
        project_id: projectId,
        disabled_at: new Date(),
        disabled_reason: 'It failed for five days',
        last_success_at: null,
        last_failure_at: new Date(),
        last_error: 'HTTP 500',
      })
      await eventOf(client, 'channel', data => data.enabled === false)
      await api().delete(`/v1/alert-channels/${channel_id}`)
      await eventOf(client, 'channel', data => data.deleted_at !== undefined)
      client.kill()
    })

    test('resumes after the id of the last event, without loss and without repeats', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const first = await listen({ projectId })
      const before = await storeIncident(testApi(), projectId, processorId)
      await eventOf(first, 'incident', data => data.incident_id === before.incident)
      await eventOf(first, 'action', data => data.action_id === before.action)
      first.kill()
      await first.ended
      const missed = []
      for (let count = 0; count < 5; count++) missed.push(await storeIncident(testApi(), projectId, processorId))
      const second = await listen({ projectId, after: first.lastId() })
      const later = await storeIncident(testApi(), projectId, processorId)
      await eventOf(second, 'incident', data => data.incident_id === later.incident)
      const seen = second.events().filter(({ type }) => type === 'incident')
      expect(seen.map(({ data }) => data.incident_id)).toEqual([...missed, later].map(({ incident }) => incident))
      const ids = [...first.received, ...second.received].map(({ id }) => id)
      expect(ids).toEqual(ids.toSorted())
      expect(second.events().map(({ type }) => type)).not.toContain('reset')
      second.kill()
    })

    test('resumes through a heartbeat, although nothing happened since', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const first = await listen({ projectId })
      first.kill()
      await first.ended
      const second = await listen({ projectId, after: first.lastId() })
      const { action } = await storeIncident(testApi(), projectId, processorId)
      await eventOf(second, 'action', data => data.action_id === action)
      expect(second.events().map(({ type }) => type)).not.toContain('reset')
      second.kill()
    })

    test('shows a key that is bound to a project nothing of another project', async () => {
      const [own, foreign] = [await createTestProject(api()), await createTestProject(api(), 'Foreign')]
      const key = await createTestKey(api(), ['read'], own.projectId)
      const client = await listen({}, key)
      await storeIncident(testApi(), foreign.projectId, foreign.processorId)
      const { action } = await storeIncident(testApi(), own.projectId, own.processorId)
      await eventOf(client, 'action', data => data.action_id === action)
      expect(JSON.stringify(client.received)).not.toContain(foreign.projectId)
      await expect(openEvents(api().url, key, { projectId: foreign.projectId })).rejects.toThrow(/404/)
      client.kill()
    })

    test.each([
      { name: 'no position at all', after: 'nonsense' },
      { name: 'a position of another database', after: `82${'0'.repeat(100)}` },
      { name: 'a position of the future', after: `82${'F'.repeat(100)}` },
    ])('tells the client to load everything again when it resumes after $name', { timeout: 20_000 }, async given => {
      const { projectId, processorId } = await createTestProject(api())
      const client = await openEvents(api().url, BOOTSTRAP_KEY, { projectId, after: given.after })
      await until('the reset', () => client.events().find(({ type }) => type === 'reset'), { timeoutMs: 15_000 })
      const { action } = await storeIncident(testApi(), projectId, processorId)
      await eventOf(client, 'action', data => data.action_id === action)
      client.kill()
    })

    test('does not show what was erased since the change that it reports', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const first = await listen({ projectId })
      first.kill()
      await first.ended
      const { action } = await storeIncident(testApi(), projectId, processorId)
      const stored = await testApi().others.actions.find({ _id: action })
      if (stored === undefined) throw new Error('The action is not stored')
      const customer = { id: 'cus_1', name: 'Erna Erased', email: null }
      await testApi().others.actions.put({ ...stored, customer, version: 3 })
      await testApi().others.actions.put({ ...stored, customer: { ...customer, name: null }, version: 4 })
      const second = await listen({ projectId, after: first.lastId() })
      const event = await eventOf(second, 'action', data => data.action_id === action)
      expect(event.data.version).toBe(4)
      expect(JSON.stringify(second.received)).not.toContain('Erna')
      second.kill()
    })

    test('ends within five seconds after its key is revoked', { timeout: 20_000 }, async () => {
      const { projectId } = await createTestProject(api())
      const key = await createTestKey(api(), ['read'], projectId)
      const client = await listen({}, key)
      const keys = (await api().get('/v1/api-keys?limit=200')).body.data as { key_id: string; project_id: string }[]
      const revoked = keys.find(({ project_id }) => project_id === projectId)
      await api().delete(`/v1/api-keys/${revoked?.key_id}`)
      const since = performance.now()
      await client.ended
      expect(performance.now() - since).toBeLessThan(6_000)
    })

    test('is refused when its key has ten streams open, and accepted after one of them ends', async () => {
      const { projectId } = await createTestProject(api())
      const key = await createTestKey(api(), ['read'], projectId)
      const clients = await Promise.all(Array.from({ length: 10 }, () => listen({}, key)))
      const answer = await api().withKey(key).get('/v1/live')
      expect(answer).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
      expect(answer.headers.get('retry-after')).toBe('1')
      clients[0]?.kill()
      await until('a place', async () => (await api().withKey(key).get('/v1/live')).status === 200)
      for (const client of clients) client.kill()
    })

    test('answers HEAD without a stream', async () => {
      const answer = await api().call('HEAD', '/v1/live')
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/)
    })
  })
}
