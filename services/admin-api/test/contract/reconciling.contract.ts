import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { storeEvent } from './every-route.ts'
import { createTestProject } from './test-project.ts'

/** The routes through which people instruct the reconciler and see its records. */
export function describeReconciling(testApi: () => TestApi): void {
  const api = () => testApi().api

  describe('expected changes', () => {
    const note = (projectId: string, more: object = {}) => ({
      project_id: projectId,
      kind: 'refund',
      note: 'Goodwill of the support team',
      ...more,
    })

    test('are created, listed and deleted', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const more = {
        connection_id: processorId,
        subject: 'pi_1',
        amount: 2499,
        currency: 'EUR',
        expires_in_seconds: 3600,
      }
      const made = await api().post('/v1/expected-changes', note(projectId, more))
      expect(made).toMatchObject({
        status: 201,
        body: { kind: 'refund', subject: 'pi_1', amount: 2499, currency: 'eur', created_by: expect.any(String) },
      })
      const { created_at, expires_at, expected_change_id } = made.body
      expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(3_600_000)
      expect((await api().get(`/v1/expected-changes?project_id=${projectId}`)).body.data).toEqual([made.body])
      expect((await api().delete(`/v1/expected-changes/${expected_change_id}`)).status).toBe(204)
      expect((await api().delete(`/v1/expected-changes/${expected_change_id}`)).status).toBe(404)
    })

    test('cover one change of any amount by default, and show what they have covered', async () => {
      const { projectId } = await createTestProject(api())
      const plain = await api().post('/v1/expected-changes', note(projectId))
      const nothing = { changes_covered: 0, amount_covered: null }
      expect(plain.body).toMatchObject({ max_changes: 1, max_amount: null, starts_at: null, ...nothing })
      const limits = { max_changes: 3, max_amount: 10_000, currency: 'EUR', starts_at: '2026-11-20T10:00:00+01:00' }
      const made = await api().post('/v1/expected-changes', note(projectId, limits))
      expect(made.body).toMatchObject({
        max_changes: 3,
        max_amount: 10_000,
        currency: 'eur',
        starts_at: '2026-11-20T09:00:00.000Z',
        changes_covered: 0,
        amount_covered: 0,
      })
      const _id: string = made.body.expected_change_id
      const uses = [2_499, 1_000].map((amount, index) => ({ action_id: `act_${index}`, amount }))
      await testApi().others.expectedChangeUses.put({
        ...{ _id, project_id: projectId, version: 2, uses },
        expires_at: new Date(made.body.expires_at),
      })
      const shown = { ...made.body, changes_covered: 2, amount_covered: 3_499 }
      expect((await api().get(`/v1/expected-changes/${_id}`)).body).toEqual(shown)
      const { data } = (await api().get(`/v1/expected-changes?project_id=${projectId}`)).body
      expect(data).toHaveLength(2)
      expect(data).toEqual(expect.arrayContaining([shown, plain.body]))
    })

    test('are sent to the reconciler, which applies them to open incidents', async () => {
      const { projectId } = await createTestProject(api())
      const { body } = await api().post('/v1/expected-changes', note(projectId))
      await expect
        .poll(() => testApi().commands)
        .toContainEqual(
          expect.objectContaining({
            kind: 'apply_expected_change',
            project_id: projectId,
            expected_change_id: body.expected_change_id,
          }),
        )
    })

    test('are about any id that a merchant may choose', async () => {
      const { projectId } = await createTestProject(api())
      const made = await api().post('/v1/expected-changes', note(projectId, { subject: 'Söhne & Co KG / 1' }))
      expect(made).toMatchObject({ status: 201, body: { subject: 'Söhne & Co KG / 1' } })
    })

    test.for([
      { name: 'a subject that is no id', more: { subject: 'a\u0007' }, status: 400 },
      { name: 'an amount without its currency', more: { amount: 1 }, status: 400 },
      { name: 'a total without its currency', more: { max_amount: 1 }, status: 400 },
      { name: 'a currency without an amount', more: { currency: 'EUR' }, status: 400 },
      { name: 'no change to cover', more: { max_changes: 0 }, status: 400 },
      {
        name: 'a total for cancellations',
        more: { kind: 'cancellation', max_amount: 1, currency: 'EUR' },
        status: 400,
      },
      { name: 'a beginning after their end', more: { starts_at: '2999-01-01T00:00:00Z' }, status: 400 },
      { name: 'no end within a month', more: { expires_in_seconds: 31 * 86_400 }, status: 400 },
      { name: 'no reason', more: { note: ' ' }, status: 400 },
      { name: 'a connection that is not there', more: { connection_id: 'con_none' }, status: 404 },
    ])('with $name are refused', async ({ more, status }) => {
      const { projectId } = await createTestProject(api())
      expect((await api().post('/v1/expected-changes', note(projectId, more))).status).toBe(status)
    })
  })

  describe('the inbox', () => {
    test('lists notifications with their outcome, and shows a body', async () => {
      const { projectId, processorId } = await createTestProject(api())
      await storeEvent(testApi(), projectId, processorId)
      const listed = await api().get(`/v1/inbox?connection_id=${processorId}&outcome=recorded`)
      expect(listed.body.data).toMatchObject([{ inbox_id: `${processorId}/evt_1`, event_type: 'refund.created' }])
      expect((await api().get(`/v1/inbox?connection_id=${processorId}&outcome=held`)).body.data).toEqual([])
      expect((await api().get(`/v1/inbox/${processorId}/evt_1`)).body.body).toEqual({ id: 'evt_1' })
      expect((await api().get(`/v1/inbox/${processorId}/evt_2`)).status).toBe(404)
    })

    test('lists dead-lettered notifications with the reason', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const parked = { outcome: 'parked', reason: 'Event evt_1 is malformed: data.object is missing' } as const
      await storeEvent(testApi(), projectId, processorId, parked)
      const listed = await api().get(`/v1/inbox?connection_id=${processorId}&outcome=parked`)
      expect(listed.body.data).toMatchObject([{ event_id: 'evt_1', ...parked }])
    })
  })

  describe('a connection that needs setup', () => {
    const at = (projectId: string, id: string) => `/v1/projects/${projectId}/connections/${id}`

    test('is completed by a read key and a site, and its site cannot change', async () => {
      const { projectId } = await createTestProject(api())
      const made = await api().post(`/v1/projects/${projectId}/connections`, { kind: 'subscription', name: 'S' })
      const path = at(projectId, made.body.connection_id)
      expect((await api().patch(path, { read_key: 'live_read_key' })).body.status).toBe('needs_setup')
      const completed = await api().patch(path, { site: 'acme', read_key: 'live_read_key' })
      expect(completed).toMatchObject({ status: 200, body: { status: 'active', site: 'acme', has_read_key: true } })
      expect(JSON.stringify(completed.body)).not.toContain('live_read_key')
      const moved = await api().patch(path, { site: 'other' })
      expect(moved).toMatchObject({ status: 400, body: { errors: [{ path: 'body.site' }] } })
      expect((await api().patch(path, { read_key: null })).body).toMatchObject({
        status: 'needs_setup',
        has_read_key: false,
      })
    })

    test('a processor may get a read key later and has no site; a change names something', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const path = at(projectId, processorId)
      expect((await api().patch(path, { read_key: 'rk_live_123', out_of_band: 'alert' })).body).toMatchObject({
        has_read_key: true,
        out_of_band: 'alert',
      })
      expect((await api().patch(path, { site: 'acme' })).status).toBe(400)
      expect((await api().patch(path, {})).status).toBe(400)
      expect((await api().patch(path, { api_base: 'https://blocked.test' })).body.code).toBe('egress_blocked')
    })
  })
}
