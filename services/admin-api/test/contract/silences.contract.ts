import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { storeIncident } from './incidents.contract.ts'
import { auditOf, createTestProject, loseAnswer } from './test-project.ts'

const HOUR_MS = 3_600_000

export function describeSilences(testApi: () => TestApi): void {
  const api = () => testApi().api
  const open = async () => {
    const { projectId, processorId } = await createTestProject(api())
    const body = { project_id: projectId, connection_id: processorId, reason: 'Migration of the shop' }
    const connection = async () => (await api().get(`/v1/projects/${projectId}/connections/${processorId}`)).body
    return { projectId, processorId, body, connection }
  }
  const iso = (ms: number) => new Date(ms).toISOString()

  describe('a silence', () => {
    test('is created, listed and shown with its connection, with its end, its author and its reason', async () => {
      const { projectId, processorId, body, connection } = await open()
      expect((await connection()).silence).toBeNull()
      const made = await api().post('/v1/silences', { ...body, duration_seconds: 7200 })
      expect(made).toMatchObject({
        status: 201,
        body: {
          silence_id: expect.stringMatching(/^sil_/),
          project_id: projectId,
          connection_id: processorId,
          reason: 'Migration of the shop',
          state: 'active',
          created_by: expect.stringMatching(/^key_/),
          ended_by: null,
        },
      })
      const { silence_id, created_at, ends_at, created_by, reason } = made.body
      expect(Date.parse(ends_at) - Date.parse(created_at)).toBe(2 * HOUR_MS)
      expect((await connection()).silence).toEqual({ silence_id, ends_at, created_by, reason })
      const ofProject = await api().get(`/v1/projects/${projectId}/connections`)
      expect(ofProject.body.data).toMatchObject([{ silence: { silence_id } }])
      expect((await api().get(`/v1/silences/${silence_id}`)).body).toEqual(made.body)
      expect((await api().get(`/v1/silences?connection_id=${processorId}`)).body.data).toEqual([made.body])
      expect(await auditOf(testApi(), silence_id)).toMatchObject([{ action: 'silence.create', project_id: projectId }])
    })

    test('is created once if the answer is lost: the repeat with the same key gets it', async () => {
      const { body, connection } = await open()
      const key = { 'idempotency-key': 'silence-after-a-lost-answer' }
      const made = await api().post('/v1/silences', { ...body, duration_seconds: 7200 }, key)
      await loseAnswer(testApi(), key['idempotency-key'])
      expect(await api().post('/v1/silences', { ...body, duration_seconds: 7200 }, key)).toMatchObject({
        status: 201,
        body: made.body,
      })
      expect((await connection()).silence).toMatchObject({ silence_id: made.body.silence_id })
    })

    test('ends by itself', async () => {
      const { body, connection } = await open()
      const made = await api().post('/v1/silences', { ...body, ends_at: iso(testApi().now() + HOUR_MS) })
      testApi().advanceClock(HOUR_MS)
      expect((await connection()).silence).toBeNull()
      const shown = (await api().get(`/v1/silences/${made.body.silence_id}`)).body
      expect(shown).toEqual({ ...made.body, state: 'ended' })
      expect((await api().post('/v1/silences', { ...body, duration_seconds: 60 })).status).toBe(201)
    })

    test('is ended early by a person, who is recorded, and stays in the list', async () => {
      const { projectId, body, connection } = await open()
      const made = await api().post('/v1/silences', { ...body, duration_seconds: 7200 })
      const path = `/v1/silences/${made.body.silence_id}`
      expect((await api().delete(path)).status).toBe(204)
      expect((await connection()).silence).toBeNull()
      const [shown] = (await api().get(`/v1/silences?project_id=${projectId}`)).body.data
      expect(shown).toMatchObject({ state: 'ended', ended_by: made.body.created_by })
      expect(Date.parse(shown.ends_at)).toBeLessThan(Date.parse(made.body.ends_at))
      expect(await api().delete(path)).toMatchObject({ status: 409, body: { code: 'conflict' } })
      const audit = await auditOf(testApi(), made.body.silence_id)
      expect(audit.map(({ action }) => action)).toEqual(['silence.create', 'silence.end'])
    })

    test('is the only one of its connection, also if two are requested at once', async () => {
      const { body, processorId } = await open()
      const asked = await Promise.all([1, 2].map(() => api().post('/v1/silences', { ...body, duration_seconds: 600 })))
      expect(asked.map(({ status }) => status).toSorted()).toEqual([201, 409])
      expect((await api().get(`/v1/silences?connection_id=${processorId}`)).body.data).toHaveLength(1)
    })

    test.each([
      { name: 'without a reason', change: { reason: ' ' }, path: 'body.reason' },
      { name: 'without an end', change: { duration_seconds: undefined }, path: 'body.ends_at' },
      { name: 'with two ends', change: { ends_at: '2030-01-01T00:00:00Z' }, path: 'body.ends_at' },
      { name: 'for 31 days', change: { duration_seconds: 31 * 86_400 }, path: 'body.duration_seconds' },
      {
        name: 'until a day in 31 days',
        change: { duration_seconds: undefined, ends_at: () => iso(testApi().now() + 31 * 24 * HOUR_MS) },
        path: 'body.ends_at',
      },
      {
        name: 'that is over',
        change: { duration_seconds: undefined, ends_at: '2020-01-01T00:00:00Z' },
        path: 'body.ends_at',
      },
    ])('$name is refused by name', async ({ change, path }) => {
      const { body } = await open()
      const { ends_at: end, ...more } = change as { ends_at?: string | (() => string) }
      const ends_at = typeof end === 'function' ? end() : end
      const answer = await api().post('/v1/silences', { ...body, duration_seconds: 600, ...more, ends_at })
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path)
    })

    test('of a connection of another project, or of a deleted one, is refused', async () => {
      const { projectId, body, processorId } = await open()
      const foreign = (await createTestProject(api(), 'Other shop')).processorId
      const asked = { ...body, duration_seconds: 600 }
      expect((await api().post('/v1/silences', { ...asked, connection_id: foreign })).status).toBe(404)
      await api().delete(`/v1/projects/${projectId}/connections/${processorId}`)
      expect((await api().post('/v1/silences', asked)).status).toBe(404)
    })
  })

  describe('an incident', () => {
    test.each([
      { name: 'that opened during a silence shows it', fromMs: -HOUR_MS, untilMs: HOUR_MS, isShown: true },
      { name: 'that opened when a silence began shows it', fromMs: 0, untilMs: HOUR_MS, isShown: true },
      { name: 'that opened when a silence ended shows none', fromMs: -HOUR_MS, untilMs: 0, isShown: false },
      { name: 'that opened before a silence shows none', fromMs: 1, untilMs: HOUR_MS, isShown: false },
    ])('$name', async ({ fromMs, untilMs, isShown }) => {
      const { projectId, processorId } = await open()
      const { incident, at } = await storeIncident(testApi(), projectId, processorId)
      const _id = `sil_of_${incident}`
      await testApi().stores.silences.put({
        ...{ _id, project_id: projectId, connection_id: processorId, reason: 'Migration', created_by: 'key_1' },
        ...{ created_at: new Date(at.getTime() + fromMs), ends_at: new Date(at.getTime() + untilMs), ended_by: null },
      })
      const { silence } = (await api().get(`/v1/incidents/${incident}`)).body
      const shown = { silence_id: _id, ends_at: iso(at.getTime() + untilMs), created_by: 'key_1', reason: 'Migration' }
      expect(silence).toEqual(isShown ? shown : null)
    })
  })
}
