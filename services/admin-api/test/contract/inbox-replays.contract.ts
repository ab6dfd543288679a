import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { storeEvent } from './every-route.ts'
import { createTestProject } from './test-project.ts'

export function describeInboxReplays(testApi: () => TestApi): void {
  const api = () => testApi().api
  const commandsOf = (replayId: string) => () =>
    testApi().commands.filter(one => one.kind === 'replay_inbox' && one.replay_id === replayId)
  const create = async () => {
    const { projectId, processorId } = await createTestProject(api())
    return { projectId, connectionId: processorId, eventId: await storeEvent(testApi(), projectId, processorId) }
  }

  describe('a replay of notifications', () => {
    const window = { from: '2026-11-01T00:00:00+01:00', to: '2026-12-01T00:00:00Z' }

    test('is requested for a connection and a window, and waits for the reconciler', async () => {
      const { projectId, connectionId } = await create()
      const asked = { connection_id: connectionId, ...window, outcome: 'parked' }
      const answer = await api().post('/v1/inbox-replays', asked)
      expect(answer).toMatchObject({ status: 202 })
      expect(answer.body).toEqual({
        replay_id: expect.stringMatching(/^rpl_/),
        project_id: projectId,
        connection_id: connectionId,
        event_ids: null,
        from: '2026-10-31T23:00:00.000Z',
        to: '2026-12-01T00:00:00.000Z',
        outcome: 'parked',
        state: 'requested',
        total: null,
        replayed: 0,
        skipped: { body_erased: 0, not_a_notification: 0 },
        requested_at: expect.any(String),
        finished_at: null,
      })
      expect((await api().get(`/v1/inbox-replays/${answer.body.replay_id}`)).body).toEqual(answer.body)
      const { from, to } = answer.body
      const wanted = { project_id: projectId, connection_id: connectionId, event_ids: null, from, to }
      await expect.poll(commandsOf(answer.body.replay_id)).toMatchObject([{ ...wanted, outcome: 'parked' }])
    })

    test('is requested for one notification', async () => {
      const { connectionId, eventId } = await create()
      const answer = await api().post(`/v1/inbox/${connectionId}/${eventId}/replay`)
      expect(answer).toMatchObject({ status: 202, body: { event_ids: [eventId], from: null, to: null, outcome: null } })
      await expect.poll(commandsOf(answer.body.replay_id)).toMatchObject([{ event_ids: [eventId] }])
    })

    test('of one notification is refused when its body is not kept any more', async () => {
      const { connectionId, eventId } = await create()
      await testApi().others.inboxBodies.remove({ _id: `${connectionId}/${eventId}` })
      const answer = await api().post(`/v1/inbox/${connectionId}/${eventId}/replay`)
      expect(answer).toMatchObject({
        status: 409,
        body: { code: 'conflict', detail: expect.stringMatching(/not kept any more/) },
      })
      expect((await api().post(`/v1/inbox/${connectionId}/evt_none/replay`)).status).toBe(404)
    })

    test('shows its progress, alone and in the list, and its notifications in the inbox', async () => {
      const { projectId, connectionId, eventId } = await create()
      const { body } = await api().post('/v1/inbox-replays', { connection_id: connectionId, ...window })
      const at = new Date(testApi().now())
      const [entry] = await testApi().others.inbox.findAll({ connection_id: connectionId })
      if (entry === undefined) throw new Error('There is an entry')
      await testApi().others.inbox.put({ ...entry, replay_id: body.replay_id })
      await testApi().others.inboxReplays.put({
        ...{ _id: body.replay_id, project_id: projectId, connection_id: connectionId, event_ids: null, outcome: null },
        ...{ from: new Date(body.from), to: new Date(body.to), state: 'done', total: 4, requested_at: at },
        ...{ replayed: 1, skipped_erased: 2, skipped_objects: 1, cursor: null, next_page_at: at, finished_at: at },
      })
      const progress = { state: 'done', total: 4, replayed: 1, skipped: { body_erased: 2, not_a_notification: 1 } }
      const done = { ...body, ...progress, finished_at: at.toISOString() }
      expect((await api().get(`/v1/inbox-replays/${body.replay_id}`)).body).toEqual(done)
      const list = await api().get(`/v1/inbox-replays?connection_id=${connectionId}`)
      expect(list.body).toEqual({ data: [done], next_cursor: null })
      const decided = await api().get(`/v1/inbox?replay_id=${body.replay_id}`)
      expect(decided.body.data).toMatchObject([{ event_id: eventId, replay_id: body.replay_id }])
    })

    test.each([
      { name: 'a window that ends before it begins', body: { from: window.to, to: window.from }, path: 'body.to' },
      { name: 'no window', body: {}, path: 'body.from' },
    ])('of $name is refused', async ({ body, path }) => {
      const { connectionId } = await create()
      const answer = await api().post('/v1/inbox-replays', { connection_id: connectionId, ...body })
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path)
    })
  })
}
