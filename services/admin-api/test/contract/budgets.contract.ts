import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { auditOf, createTestProject } from './test-project.ts'

export function describeBudgets(testApi: () => TestApi): void {
  const api = () => testApi().api
  const open = async () => {
    const own = await createTestProject(api())
    const make = (more: Record<string, unknown> = {}) =>
      api().post('/v1/budgets', {
        project_id: own.projectId,
        name: 'Refunds a day',
        currency: 'EUR',
        cap: 2000,
        interval: 'day',
        ...more,
      })
    const report = (more: Record<string, unknown> = {}) =>
      api().post('/v1/operations', {
        connection_id: own.processorId,
        kind: 'refund',
        subject: 'pi_1',
        amount: 1200,
        currency: 'EUR',
        ...more,
      })
    const current = async (id: string) => (await api().get(`/v1/budgets/${id}`)).body.current
    return { ...own, make, report, current }
  }

  describe('budgets', () => {
    test('are created, read, listed, changed and deleted', async () => {
      const { projectId, processorId, make } = await open()
      const made = await make({ connection_id: processorId, interval: 'month' })
      expect(made).toMatchObject({
        status: 201,
        body: {
          budget_id: expect.stringMatching(/^bud_/),
          project_id: projectId,
          connection_id: processorId,
          currency: 'eur',
          cap: 2000,
          interval: 'month',
          version: 1,
          current: { used: 0, reserved: 0, left: 2000 },
        },
      })
      const day = await make()
      const path = `/v1/budgets/${made.body.budget_id}`
      const read = await api().get(path)
      expect([read.body, read.headers.get('etag')]).toEqual([made.body, '"1"'])
      const list = await api().get(`/v1/budgets?project_id=${projectId}&limit=1`)
      expect(list.body).toEqual({ data: [day.body], next_cursor: expect.any(String) })
      const rest = await api().get(`/v1/budgets?project_id=${projectId}&cursor=${list.body.next_cursor}`)
      expect(rest.body).toEqual({ data: [made.body], next_cursor: null })
      const narrow = await api().get(`/v1/budgets?connection_id=${processorId}`)
      expect(narrow.body.data).toEqual([made.body])

      const stale = await api().patch(path, { cap: 1 }, { 'if-match': '"7"' })
      expect(stale).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
      const changed = await api().patch(path, { cap: 3000, name: 'More' }, { 'if-match': '"1"' })
      expect(changed).toMatchObject({
        status: 200,
        body: { cap: 3000, name: 'More', version: 2, current: { left: 3000 } },
      })
      expect(changed.headers.get('etag')).toBe('"2"')
      expect((await api().delete(path)).status).toBe(204)
      expect((await api().get(path)).status).toBe(404)
      expect((await api().delete(path)).status).toBe(404)
      const rows = await auditOf(testApi(), made.body.budget_id)
      expect(rows.map(({ action }) => action)).toEqual(['budget.create', 'budget.change', 'budget.delete'])
    })

    test('refuse an operation that does not fit, and say what is left', async () => {
      const { make, report, current } = await open()
      const { budget_id: id } = (await make()).body
      const first = await report()
      expect(first.body.budgets).toEqual([
        { budget_id: id, period_start: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), amount: 1200, state: 'reserved' },
      ])
      const refused = await report()
      expect(refused).toMatchObject({
        status: 409,
        body: { code: 'budget_exceeded', budget: { budget_id: id, left: 800, currency: 'eur' } },
      })
      expect(refused.body.detail).toContain(`Budget ${id} (EUR 20.00 per day) has EUR 8.00 left`)
      expect(await current(id)).toMatchObject({ used: 0, reserved: 1200, left: 800 })
      await api().post(`/v1/operations/${first.body.operation_id}/transitions`, { to: 'completed' })
      expect(await current(id)).toMatchObject({ used: 1200, reserved: 0, left: 800, overspent: 0 })
    })

    test('are exceeded by completed operations, with an alert', async () => {
      const { projectId, make, report, current } = await open()
      const { budget_id: id } = (await make({ cap: 1000 })).body
      expect((await report({ state: 'completed' })).status).toBe(201)
      expect(await current(id)).toMatchObject({ used: 1200, left: 0, overspent: 200 })
      await expect
        .poll(() => testApi().alerts(projectId))
        .toEqual([expect.objectContaining({ event: 'cap.threshold', data: expect.objectContaining({ percent: 100 }) })])
    })

    test('refuse a refund without an amount', async () => {
      const { make, report } = await open()
      await make()
      const vague = await report({ amount: null, currency: null })
      expect(vague).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path: 'body.amount' }] } })
      expect((await report({ amount: null, currency: null, state: 'completed' })).status).toBe(201)
    })

    const refused: { name: string; body: Record<string, unknown>; status: number }[] = [
      { name: 'no cap', body: { cap: undefined }, status: 400 },
      { name: 'a cap of nothing', body: { cap: 0 }, status: 400 },
      { name: 'a cap of half a cent', body: { cap: 0.5 }, status: 400 },
      { name: 'an unknown interval', body: { interval: 'year' }, status: 400 },
      { name: 'a currency that is none', body: { currency: 'euro' }, status: 400 },
      { name: 'an unknown project', body: { project_id: 'prj_none' }, status: 404 },
      { name: 'an unknown connection', body: { connection_id: 'con_none' }, status: 404 },
    ]
    test.each(refused)('with $name are refused', async ({ body, status }) => {
      const { make } = await open()
      expect((await make(body)).status).toBe(status)
    })

    test("for another project's connection are refused", async () => {
      const { make } = await open()
      const other = await createTestProject(api())
      expect((await make({ connection_id: other.processorId })).status).toBe(404)
    })

    test('refuse a change of their currency, interval or connection, and an empty change', async () => {
      const { make } = await open()
      const { budget_id: id } = (await make()).body
      for (const body of [{ currency: 'usd' }, { interval: 'week' }, { connection_id: null }, {}]) {
        expect((await api().patch(`/v1/budgets/${id}`, body)).status).toBe(400)
      }
    })
  })
}
