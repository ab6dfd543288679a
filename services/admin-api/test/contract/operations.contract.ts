import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { auditOf, createTestKey, createTestProject, loseAnswer } from './test-project.ts'

export function describeOperations(testApi: () => TestApi): void {
  const api = () => testApi().api
  const open = async () => {
    const own = await createTestProject(api())
    const report = (more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
      api().post(
        '/v1/operations',
        { connection_id: own.processorId, kind: 'refund', subject: 'pi_1', ...more },
        headers,
      )
    return { ...own, report }
  }

  describe('operations', () => {
    test('are recorded, changed, read and published', async () => {
      const { projectId, processorId, report } = await open()
      const made = await report({ amount: 1250, currency: 'EUR', idempotency_key: 'k-1', run_id: 'run-1' })
      expect(made.status).toBe(201)
      expect(made.body).toEqual({
        operation_id: expect.stringMatching(/^op_/),
        project_id: projectId,
        connection_id: processorId,
        provider: 'processor',
        version: 1,
        kind: 'refund',
        subject: 'pi_1',
        amount: 1250,
        currency: 'eur',
        provider_ref: null,
        provider_request_id: null,
        idempotency_key: 'k-1',
        run_id: 'run-1',
        state: 'requested',
        reason: null,
        executing_at: null,
        ended_at: null,
        created_at: expect.any(String),
        updated_at: made.body.created_at,
        approval: null,
        unapproved: null,
        budgets: [],
        reported_by: expect.stringMatching(/^key_/),
      })
      const id = made.body.operation_id
      const move = (body: unknown) => api().post(`/v1/operations/${id}/transitions`, body)
      expect((await move({ to: 'executing' })).body).toMatchObject({ state: 'executing', version: 2 })
      const done = await move({ to: 'completed', provider_ref: 're_1', reason: 'By agent 7' })
      expect(done).toMatchObject({
        status: 200,
        body: { state: 'completed', provider_ref: 're_1', reason: 'By agent 7' },
      })
      expect((await api().get(`/v1/operations/${id}`)).body).toEqual({ ...done.body, decided_by_name: null })
      expect((await api().get(`/v1/operations?project_id=${projectId}`)).body).toEqual({
        data: [done.body],
        next_cursor: null,
      })
      await expect
        .poll(() =>
          testApi()
            .published(id)
            .map(({ state }) => state),
        )
        .toEqual(['requested', 'executing', 'completed'])
      expect(testApi().published(id).at(-1)?.refs).toContain(`${projectId}/processor/re_1`)
    })

    test.each(['executing', 'awaiting_review', 'completed', 'failed', 'rejected', 'approval_pending', 'declined'])(
      'may be reported as %s outright',
      async state => {
        const { report } = await open()
        expect(await report({ state })).toMatchObject({ status: 201, body: { state, version: 1 } })
      },
    )

    test('reported again under their idempotency_key are answered as they are stored', async () => {
      const { report } = await open()
      const first = await report({ idempotency_key: 'k-2' })
      await api().post(`/v1/operations/${first.body.operation_id}/transitions`, { to: 'completed' })
      const again = await report({ idempotency_key: 'k-2' })
      expect(again).toMatchObject({ status: 200, body: { operation_id: first.body.operation_id, state: 'completed' } })
      const other = await report({ idempotency_key: 'k-2', subject: 'pi_2' })
      expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } })
      expect(other.body.detail).toMatch(/another subject/)
    })

    test('reported in a later state under their idempotency_key move there, with an audit row', async () => {
      const { report } = await open()
      const first = await report({ idempotency_key: 'k-3', state: 'executing' })
      const done = await report({ idempotency_key: 'k-3', state: 'completed', provider_ref: 're_3' })
      const id = first.body.operation_id
      expect(done).toMatchObject({
        status: 200,
        body: { operation_id: id, state: 'completed', provider_ref: 're_3', version: 2 },
      })
      const rows = await auditOf(testApi(), id)
      expect(rows.map(({ action }) => action)).toEqual(['operation.create', 'operation.transition'])
    })

    const sparse: { name: string; body: Record<string, unknown> }[] = [
      { name: 'an amount without a currency', body: { amount: 1250 } },
      { name: 'a currency without an amount', body: { currency: 'eur' } },
      { name: 'a cancellation of nothing', body: { kind: 'cancellation', amount: 0, currency: 'eur' } },
      {
        name: 'null for what is not known',
        body: { amount: null, currency: null, idempotency_key: null, run_id: null, executing_at: null, ended_at: null },
      },
    ]
    test.each(sparse)('that have happened are recorded with $name', async ({ body }) => {
      const { report } = await open()
      const done = await report({ ...body, state: 'completed', provider_ref: 're_4' })
      expect(done).toMatchObject({ status: 201, body: { state: 'completed', provider_ref: 're_4' } })
      expect(done.body).toMatchObject({ amount: body.amount ?? null, currency: body.currency ?? null })
    })

    test('keep the times that the reporter gives', async () => {
      const { report } = await open()
      const { body } = await report({ state: 'executing' })
      const ended_at = new Date(Date.parse(body.created_at) + 10).toISOString()
      const transition = { to: 'completed', ended_at, executing_at: null, provider_ref: null, reason: null }
      const done = await api().post(`/v1/operations/${body.operation_id}/transitions`, transition)
      expect(done).toMatchObject({ status: 200, body: { state: 'completed', ended_at } })
    })

    test('are refused with the reason if the transition is not allowed', async () => {
      const { report } = await open()
      const { body } = await report({ state: 'completed' })
      const answer = await api().post(`/v1/operations/${body.operation_id}/transitions`, { to: 'executing' })
      expect(answer).toMatchObject({ status: 409, body: { code: 'illegal_transition' } })
      expect(answer.body.detail).toMatch(/is completed, and executing comes before that/)
    })

    test('stay unchanged, without an audit row, if reported in the same state', async () => {
      const { report } = await open()
      const { body } = await report({ state: 'executing' })
      const repeat = await api().post(`/v1/operations/${body.operation_id}/transitions`, { to: 'executing' })
      expect(repeat).toMatchObject({ status: 200, body: { version: 1 } })
      const rows = await auditOf(testApi(), body.operation_id)
      expect(rows.map(({ action }) => action)).toEqual(['operation.create'])
    })

    const refused: { name: string; body: Record<string, unknown>; path: string }[] = [
      { name: 'half a cent', body: { amount: 0.5, currency: 'eur' }, path: 'body.amount' },
      { name: 'a negative amount', body: { amount: -1, currency: 'eur' }, path: 'body.amount' },
      { name: 'an amount as text', body: { amount: '1', currency: 'eur' }, path: 'body.amount' },
      { name: 'a currency that is none', body: { amount: 1, currency: 'euro' }, path: 'body.currency' },
      { name: 'an unknown state', body: { state: 'done' }, path: 'body.state' },
      { name: 'an unknown kind', body: { kind: 'credit' }, path: 'body.kind' },
      { name: 'a subject with a control character', body: { subject: 'pi_1\u0007' }, path: 'body.subject' },
      {
        name: 'a time that is none',
        body: { state: 'executing', executing_at: 'yesterday' },
        path: 'body.executing_at',
      },
      {
        name: 'an end before it ended',
        body: { state: 'executing', ended_at: '2026-01-01T00:00:00Z' },
        path: 'body.ended_at',
      },
    ]
    test.each(refused)('with $name are refused by name', async ({ body, path }) => {
      const { report } = await open()
      const answer = await report(body)
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path)
    })

    test('accept any id that a merchant may choose, and are found by it', async () => {
      const { projectId, report } = await open()
      const ids = ['Söhne & Co KG / 1', ' x ', '..', 'a|b:c%2F', '😀'.repeat(255)]
      for (const id of ids) {
        const made = await report({ subject: id, provider_ref: id, state: 'executing' })
        expect(made).toMatchObject({ status: 201, body: { subject: id, provider_ref: id } })
        const query = new URLSearchParams({ project_id: projectId, subject: id })
        expect((await api().get(`/v1/operations?${query}`)).body.data).toEqual([made.body])
      }
    })

    test.each(['', 'a\nb', 'a\u0085', '\ud800', 'x'.repeat(256)])(
      'about %j are refused: it is no id',
      async subject => {
        const { report } = await open()
        expect((await report({ subject })).status).toBe(400)
        expect((await report({ provider_ref: subject })).status).toBe(400)
      },
    )

    test('on an unknown connection are refused', async () => {
      const { report } = await open()
      expect(await report({ connection_id: 'con_none' })).toMatchObject({ status: 404, body: { code: 'not_found' } })
    })

    test('are reported with a scope of their own, which reads nothing', async () => {
      const { projectId, processorId } = await open()
      const reporter = api().withKey(await createTestKey(api(), ['operations:write'], projectId))
      const manager = api().withKey(await createTestKey(api(), ['manage', 'read'], projectId))
      const body = { connection_id: processorId, kind: 'refund', subject: 'pi_1' }
      expect((await reporter.post('/v1/operations', body)).status).toBe(201)
      expect(await reporter.get('/v1/operations')).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      expect(await manager.post('/v1/operations', body)).toMatchObject({ status: 403 })
    })

    test('are listed by connection, state and subject', async () => {
      const { processorId, report } = await open()
      await report({ state: 'completed' })
      const wanted = await report({ subject: 'pi_2' })
      const list = await api().get(`/v1/operations?connection_id=${processorId}&state=requested&subject=pi_2`)
      expect(list.body.data.map((one: { operation_id: string }) => one.operation_id)).toEqual([
        wanted.body.operation_id,
      ])
    })
  })

  describe('the Idempotency-Key header', () => {
    test('creates a connection once, and shows its secret once', async () => {
      const { projectId } = await createTestProject(api())
      const make = (name: string) =>
        api().post(
          `/v1/projects/${projectId}/connections`,
          { kind: 'processor', name },
          { 'idempotency-key': 'make-1' },
        )
      const first = await make('Cards')
      const again = await make('Cards')
      expect(first).toMatchObject({ status: 201, body: { signing_secret: expect.any(String) } })
      const { signing_secret: _, ...withoutSecret } = first.body
      expect([again.status, again.body]).toEqual([201, withoutSecret])
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect(await make('Others')).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } })
      const { body } = await api().get(`/v1/projects/${projectId}/connections`)
      expect(body.data).toHaveLength(2)
    })

    test('creates one connection for twenty requests at once', async () => {
      const name = `many-${testApi().now()}`
      const requests = Array.from({ length: 20 }, () =>
        api().post('/v1/projects', { name }, { 'idempotency-key': name }),
      )
      const answers = await Promise.all(requests)
      const made = new Set(answers.flatMap(({ status, body }) => (status === 201 ? [body.project_id] : [])))
      expect(made.size).toBe(1)
      for (const { status, body } of answers)
        expect([status, body.code]).toEqual(status === 201 ? [201, undefined] : [409, 'conflict'])
    })

    test('is free again after a refusal', async () => {
      const header = { 'idempotency-key': `mend-${testApi().now()}` }
      expect((await api().post('/v1/projects', { name: '' }, header)).status).toBe(400)
      expect((await api().post('/v1/projects', { name: 'Mended' }, header)).status).toBe(201)
    })

    test('creates an operation without an idempotency_key only once', async () => {
      const { processorId, report } = await open()
      const header = { 'idempotency-key': 'op-1' }
      const [first, again] = [await report({}, header), await report({}, header)]
      expect(again.body).toEqual(first.body)
      expect((await api().get(`/v1/operations?connection_id=${processorId}`)).body.data).toHaveLength(1)
    })

    test('answers with an operation that the first attempt made, although its connection was deleted meanwhile', async () => {
      const { projectId, processorId, report } = await open()
      const key = `deleted-${processorId}`
      const first = await report({}, { 'idempotency-key': key })
      await api().delete(`/v1/projects/${projectId}/connections/${processorId}`)
      await loseAnswer(testApi(), key)
      expect(await report({}, { 'idempotency-key': key })).toMatchObject({ status: 201, body: first.body })
      expect(await report()).toMatchObject({ status: 404, body: { code: 'not_found' } })
    })
  })
}
