import type { Command } from '@backstop/contracts'
import { createFixedCodec } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { storeDeadLetter, storeEvent } from './every-route.ts'
import { deliveryDocument } from './incidents.contract.ts'
import { createTestKey, createTestProject, loseAnswer } from './test-project.ts'

/** Stores one dead letter of each collection in a project, a minute apart. @returns their ids and paths, newest first */
async function storeOneOfEachKind(testApi: TestApi) {
  const { projectId, processorId: connectionId } = await createTestProject(testApi.api)
  const at = (minute: number) => new Date(Date.parse('2026-11-21T10:00:00Z') + minute * 60_000)
  await storeEvent(testApi, projectId, connectionId, { outcome: 'parked', reason: 'Event evt_1 is malformed' })
  const entry = await testApi.others.inbox.find({ _id: `${connectionId}/evt_1` })
  if (entry === undefined) throw new Error('There is an entry')
  const objectId = `dlt_object_${projectId}`
  await testApi.others.inbox.put({ ...entry, processed_at: at(2) })
  await testApi.others.inbox.put({ ...entry, _id: `${connectionId}/${objectId}`, event_id: objectId })
  const project = { project_id: projectId }
  await storeDeadLetter(testApi, `object_${projectId}`, {
    ...project,
    kind: 'provider_object',
    topic: 'readbacks',
    key: connectionId,
    parked_at: at(0),
  })
  const operation = { kind: 'operation', topic: 'operations', resource_id: 'op_1', parked_at: at(1) } as const
  const operationId = await storeDeadLetter(testApi, `operation_${projectId}`, { ...project, ...operation })
  const delivery = { ...deliveryDocument(projectId, `alr_${projectId}`, at(0)), state: 'dead' as const }
  await testApi.others.deliveries.put({ ...delivery, updated_at: at(3) })
  const inbox = `/v1/inbox/${connectionId}`
  const messages = [operationId, objectId].map(id => `/v1/dead-letters/${id}/replay`)
  return {
    projectId,
    connectionId,
    ids: [delivery._id, `${connectionId}/evt_1`, operationId, objectId],
    paths: {
      repair: [null, `${inbox}/evt_1/replay`, ...messages],
      resource: [`/v1/deliveries/${delivery._id}`, `${inbox}/evt_1`, '/v1/operations/op_1', `${inbox}/${objectId}`],
    },
  }
}

export function describeDeadLetters(testApi: () => TestApi): void {
  const api = () => testApi().api
  const listed = async (id: string) =>
    (await api().get('/v1/dead-letters?limit=200')).body.data.find(
      (one: { dead_letter_id: string }) => one.dead_letter_id === id,
    )

  describe('a dead letter', () => {
    test('is listed with its reason and without its content', async () => {
      const id = await storeDeadLetter(testApi(), 'listed')
      expect(await listed(id)).toEqual({
        dead_letter_id: id,
        kind: 'command',
        project_id: null,
        topic: 'commands',
        key: 'x',
        bytes: 'nonsense'.length,
        reason_code: 'message_invalid',
        reason: 'The message is not framed',
        parked_at: '2026-11-21T10:00:00.000Z',
        resource: null,
        repair: { method: 'POST', path: `/v1/dead-letters/${id}/replay` },
        repair_blocked_by: null,
        dismiss: { method: 'POST', path: `/v1/dead-letters/${id}/dismiss` },
      })
    })

    test('is hidden after it was sent again', async () => {
      const id = await storeDeadLetter(testApi(), 'sent again', { replayed_at: new Date('2026-11-21T11:00:00Z') })
      expect(await listed(id)).toBeUndefined()
    })

    test('is published unchanged to its original topic', async () => {
      const { projectId } = await createTestProject(api())
      const command: Command = {
        kind: 'enable_channel',
        command_id: `cmd_${projectId}`,
        project_id: projectId,
        requested_at: '2026-11-21T10:00:00.000Z',
        channel_id: 'chn_1',
      }
      // A message with a schema id that was unknown when it was dead-lettered.
      const value = createFixedCodec().encode('command', command).toString('base64')
      const id = await storeDeadLetter(testApi(), `again of ${projectId}`, { value, key: 'chn_1' })
      const answer = await api().post(`/v1/dead-letters/${encodeURIComponent(id)}/replay`)
      expect(answer).toMatchObject({ status: 202, body: { dead_letter_id: id } })
      await expect
        .poll(() => testApi().commands.filter(({ command_id }) => command_id === command.command_id), {
          timeout: 60_000,
        })
        .toEqual([command])
    })

    test('without a project can be neither seen nor replayed with a key of one project', async () => {
      const { projectId } = await createTestProject(api())
      const id = await storeDeadLetter(testApi(), 'of nobody')
      const friend = api().withKey(await createTestKey(api(), ['admin'], projectId))
      expect((await friend.get('/v1/dead-letters')).body).toEqual({ data: [], next_cursor: null })
      const path = `/v1/dead-letters/${encodeURIComponent(id)}/replay`
      expect((await friend.post(path)).status).toBe(404)
      expect((await api().post('/v1/dead-letters/dlt_unknown/replay')).status).toBe(404)
    })
  })

  describe('a dead letter that nothing can use', () => {
    const rowsOf = async (id: string) => {
      const { body } = await api().get('/v1/audit?action=dead_letter.dismiss&limit=200')
      return body.data.filter(({ target }: { target: string }) => target === id)
    }
    const pathOf = (id: string) => `/v1/dead-letters/${encodeURIComponent(id)}/dismiss`
    const marksOf = (id: string) =>
      testApi().commands.filter(
        one => one.kind === 'mark_replayed' && one.dead_letters.some(({ dead_letter_id }) => dead_letter_id === id),
      )

    test('is marked without being sent when it is dismissed, and the audit shows who dismissed it', async () => {
      const id = await storeDeadLetter(testApi(), 'dismissed')
      expect((await listed(id)).dismiss).toEqual({ method: 'POST', path: pathOf(id) })
      const before = testApi().commands.length
      expect(await api().post(pathOf(id))).toMatchObject({ status: 202, body: { dead_letter_id: id } })
      await expect.poll(() => marksOf(id)).toHaveLength(1)
      expect(testApi().commands).toHaveLength(before + 1)
      expect(await rowsOf(id)).toHaveLength(1)
    })

    test('is dismissed once, however often the request is repeated', async () => {
      const id = await storeDeadLetter(testApi(), 'dismissed-twice')
      await api().post(pathOf(id))
      const letter = await testApi().others.deadLetters.find({ _id: id })
      if (letter === undefined) throw new Error('There is a dead letter')
      // As the notifier does by the command.
      await testApi().others.deadLetters.put({ ...letter, replayed_at: new Date(testApi().now()) })
      expect(await listed(id)).toBeUndefined()
      expect((await api().post(pathOf(id))).status).toBe(202)
      expect(await rowsOf(id)).toHaveLength(1)
    })

    test('is dismissed only with the scope manage, and by keys that may see its project', async () => {
      const { projectId, ids } = await storeOneOfEachKind(testApi())
      const letter = ids.find(id => id.startsWith('dlt_')) ?? ''
      const reader = api().withKey(await createTestKey(api(), ['read'], projectId))
      expect((await reader.post(pathOf(letter))).status).toBe(403)
      const { projectId: other } = await createTestProject(api())
      const stranger = api().withKey(await createTestKey(api(), ['admin'], other))
      expect((await stranger.post(pathOf(letter))).status).toBe(404)
      expect((await api().post(pathOf('dlt_unknown'))).status).toBe(404)
    })

    test('is refused with the reason for notifications and deliveries, which other lists show', async () => {
      const { ids } = await storeOneOfEachKind(testApi())
      for (const id of ids.filter(id => !id.startsWith('dlt_'))) {
        expect(await api().post(pathOf(id))).toMatchObject({ status: 409, body: { code: 'conflict' } })
      }
    })
  })

  describe('many dead letters that nothing can use', () => {
    const dismissAll = (body: object) => api().post('/v1/dead-letters/dismiss', body)
    const rowsOf = async (projectId: string) => {
      const { body } = await api().get(`/v1/audit?project_id=${projectId}&action=dead_letter.dismiss&limit=200`)
      return body.data.map(({ target }: { target: string }) => target).toSorted()
    }

    test('are dismissed by project, kind and time, each with an audit row, and none is sent', async () => {
      const { projectId, ids } = await storeOneOfEachKind(testApi())
      const [, , operationId = '', objectId = ''] = ids
      const before = testApi().commands.length
      const none = { to: '2026-11-21T10:00:00Z' }
      expect((await dismissAll({ project_id: projectId, ...none })).body).toMatchObject({ dismissed: 0 })
      expect((await dismissAll({ project_id: projectId, kind: 'operation' })).body).toEqual({
        dismissed: 1,
        blocked: [],
        next_cursor: null,
      })
      expect(testApi().commands.slice(before)).toMatchObject([
        { kind: 'mark_replayed', project_id: projectId, dead_letters: [{ dead_letter_id: operationId }] },
      ])
      const rest = await dismissAll({ project_id: projectId })
      expect(rest).toMatchObject({ status: 202, body: { dismissed: 2, next_cursor: null } })
      expect(rest.body.blocked.map((one: { dead_letter_id: string }) => one.dead_letter_id).toSorted()).toEqual(
        ids.slice(0, 2).toSorted(),
      )
      expect(await rowsOf(projectId)).toContain(objectId)
    })

    test('are dismissed 200 with each request, and the next request goes on after them', async () => {
      const { projectId } = await createTestProject(api())
      const ids: string[] = []
      for (let index = 0; index < 201; index++) {
        const parked_at = new Date(testApi().now() - 86_400_000 + index * 1_000)
        const name = `many_${projectId}_${String(index).padStart(3, '0')}`
        ids.push(await storeDeadLetter(testApi(), name, { project_id: projectId, parked_at }))
      }
      const first = await dismissAll({ project_id: projectId })
      expect(first).toMatchObject({ status: 202, body: { dismissed: 200 } })
      expect(await rowsOf(projectId)).toEqual(ids.slice(0, 200))
      const rest = { project_id: projectId, cursor: first.body.next_cursor }
      expect((await dismissAll(rest)).body).toEqual({ dismissed: 1, blocked: [], next_cursor: null })
    })

    test('are dismissed only with the scope manage, and in the projects of the key', async () => {
      const { projectId } = await storeOneOfEachKind(testApi())
      const reader = api().withKey(await createTestKey(api(), ['read'], projectId))
      expect((await reader.post('/v1/dead-letters/dismiss', { project_id: projectId })).status).toBe(403)
      const { projectId: other } = await createTestProject(api())
      const stranger = api().withKey(await createTestKey(api(), ['admin'], other))
      expect((await stranger.post('/v1/dead-letters/dismiss', {})).body).toMatchObject({ dismissed: 0 })
      expect(await rowsOf(projectId)).toEqual([])
    })
  })

  describe('the list of all dead letters', () => {
    test('has notifications, objects of answers, deliveries and messages, newest first and page by page', async () => {
      const { projectId, ids, paths } = await storeOneOfEachKind(testApi())
      const first = await api().get(`/v1/dead-letters?project_id=${projectId}&limit=3`)
      const cursor = first.body.next_cursor
      const second = await api().get(`/v1/dead-letters?project_id=${projectId}&limit=3&cursor=${cursor}`)
      const all = [...first.body.data, ...second.body.data]
      expect(all.map(({ dead_letter_id }) => dead_letter_id)).toEqual(ids)
      expect(second.body.next_cursor).toBeNull()
      expect(all.map(({ kind }) => kind)).toEqual(['delivery', 'notification', 'operation', 'provider_object'])
      expect(all.map(({ repair }) => repair)).toEqual(
        paths.repair.map(path => (path === null ? null : { method: 'POST', path })),
      )
      expect(all.map(({ resource }) => resource)).toEqual(paths.resource)
      expect(all.every(letter => letter.project_id === projectId && letter.reason !== '')).toBe(true)
      expect(all[0].repair_blocked_by).toBe('Its alert channel was deleted')
    })

    test('is filtered by kind, time and project', async () => {
      const { projectId, ids } = await storeOneOfEachKind(testApi())
      const list = async (query: string) => {
        const { body } = await api().get(`/v1/dead-letters?project_id=${projectId}&${query}`)
        return body.data.map(({ dead_letter_id }: { dead_letter_id: string }) => dead_letter_id)
      }
      const kinds = ['delivery', 'notification', 'operation', 'provider_object']
      for (const [index, kind] of kinds.entries()) expect(await list(`kind=${kind}`)).toEqual([ids[index]])
      expect(await list('kind=alert')).toEqual([])
      expect(await list('from=2026-11-21T10:02:00Z&to=2026-11-21T10:03:00Z')).toEqual([ids[1]])
      expect((await api().get('/v1/dead-letters?kind=gift')).status).toBe(400)
      const { projectId: foreign } = await createTestProject(api())
      const stranger = api().withKey(await createTestKey(api(), ['admin'], foreign))
      expect((await stranger.get('/v1/dead-letters')).body.data).toEqual([])
      for (const id of ids) {
        const path = `/v1/dead-letters/${encodeURIComponent(id)}/replay`
        expect((await stranger.post(path)).status).toBe(404)
      }
    })

    test('is replayed by filter: each dead letter by the path of its kind, and none that cannot be sent', async () => {
      const { projectId, connectionId, ids } = await storeOneOfEachKind(testApi())
      const answer = await api().post('/v1/dead-letters/replay', { project_id: projectId })
      expect(answer).toMatchObject({ status: 202, body: { replayed: 3, next_cursor: null } })
      expect(answer.body.blocked).toEqual([{ dead_letter_id: ids[0], reason: 'Its alert channel was deleted' }])
      const kindsOf = () =>
        testApi()
          .commands.filter(({ project_id }) => project_id === projectId)
          .map(({ kind }) => kind)
          .toSorted()
      await expect.poll(kindsOf).toEqual(['mark_replayed', 'replay_inbox'])
      const replays = await api().get(`/v1/inbox-replays?connection_id=${connectionId}`)
      expect(replays.body.data).toMatchObject([{ event_ids: ['evt_1'] }])
      const audit = await api().get(`/v1/audit?project_id=${projectId}&action=dead_letter.replay`)
      expect(audit.body.data.map(({ target }: { target: string }) => target).toSorted()).toEqual(
        ids.slice(1).toSorted(),
      )
    })

    test('is replayed with all others, the oldest first, and once if it fails again at once', async () => {
      const { projectId } = await createTestProject(api())
      const at = (index: number) => new Date(testApi().now() - 86_400_000 + index * 1_000)
      const ids: string[] = []
      for (let index = 0; index < 201; index++) {
        const name = `${projectId}_${String(index).padStart(3, '0')}`
        ids.push(await storeDeadLetter(testApi(), name, { project_id: projectId, parked_at: at(index) }))
      }
      const [oldest = ''] = ids
      const targets = async () => {
        const { body } = await api().get(`/v1/audit?project_id=${projectId}&action=dead_letter.replay&limit=200`)
        return body.data.map(({ target }: { target: string }) => target)
      }
      const first = await api().post('/v1/dead-letters/replay', { project_id: projectId })
      expect(first).toMatchObject({ status: 202, body: { replayed: 200 } })
      expect((await targets()).toSorted()).toEqual(ids.slice(0, 200))
      // The oldest fails again.
      const again = await testApi().others.deadLetters.find({ _id: oldest })
      if (again === undefined) throw new Error('There is a dead letter')
      await testApi().others.deadLetters.put({ ...again, parked_at: new Date(testApi().now() + 60_000) })
      const rest = { project_id: projectId, cursor: first.body.next_cursor }
      expect(await api().post('/v1/dead-letters/replay', rest)).toMatchObject({
        body: { replayed: 1, next_cursor: null },
      })
      expect((await api().post('/v1/dead-letters/replay', { ...rest, cursor: 'nonsense' })).status).toBe(400)
    })

    test('replays a notification once: a repeat with the same key gets the first answer after it was decided', async () => {
      const { connectionId, ids } = await storeOneOfEachKind(testApi())
      const key = `replay-${connectionId}`
      const replay = () =>
        api().post(`/v1/dead-letters/${encodeURIComponent(ids[1] as string)}/replay`, undefined, {
          'idempotency-key': key,
        })
      const first = await replay()
      const entry = await testApi().others.inbox.find({ _id: `${connectionId}/evt_1` })
      await testApi().others.inbox.put({ ...entry!, outcome: 'recorded' })
      await loseAnswer(testApi(), key)
      expect(await replay()).toMatchObject({ status: 202, body: first.body })
    })

    test('replays a notification by its id, unless its body is not kept any more', async () => {
      const { projectId, connectionId, ids } = await storeOneOfEachKind(testApi())
      const path = `/v1/dead-letters/${encodeURIComponent(ids[1] as string)}/replay`
      expect(await api().post(path)).toMatchObject({ status: 202, body: { kind: 'notification' } })
      await testApi().others.inboxBodies.remove({ _id: `${connectionId}/evt_1` })
      expect(await api().post(path)).toMatchObject({ status: 409, body: { code: 'conflict' } })
      const { body } = await api().get(`/v1/dead-letters?project_id=${projectId}&kind=notification`)
      expect(body.data[0]).toMatchObject({
        repair: null,
        repair_blocked_by: expect.stringMatching(/not kept any more/),
      })
    })
  })
}
