import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { auditOf, createTestKey, createTestPerson, createTestProject } from './test-project.ts'

const HOUR = 3_600_000

export function describeApprovals(testApi: () => TestApi): void {
  const api = () => testApi().api
  const open = async () => {
    const own = await createTestProject(api())
    const set = await api().patch(`/v1/projects/${own.projectId}`, {
      requires_approval: true,
      approval_deadline_seconds: 7200,
    })
    expect(set).toMatchObject({ status: 200, body: { requires_approval: true, approval_deadline_seconds: 7200 } })
    const report = (more: Record<string, unknown> = {}) =>
      api().post('/v1/operations', { connection_id: own.processorId, kind: 'refund', subject: 'pi_1', ...more })
    return { ...own, report }
  }

  describe('approvals', () => {
    test('are not required unless a project requires them', async () => {
      const { projectId } = await createTestProject(api())
      expect((await api().get(`/v1/projects/${projectId}`)).body).toMatchObject({
        requires_approval: false,
        approval_deadline_seconds: 86_400,
      })
      const odd = [{ approval_deadline_seconds: 9 }, { approval_deadline_seconds: 1.5 }, { requires_approval: 'yes' }]
      for (const body of odd) expect((await api().patch(`/v1/projects/${projectId}`, body)).status).toBe(400)
    })

    test('are requested, alerted, given by a separate key, and audited', async () => {
      const { projectId, report } = await open()
      const asked = await report({ amount: 1250, currency: 'eur' })
      expect(asked).toMatchObject({
        status: 201,
        body: { state: 'approval_pending', approval: { required: true, decided_by: null } },
      })
      const id = asked.body.operation_id
      await expect
        .poll(() =>
          testApi()
            .alerts(projectId)
            .map(({ event }) => event),
        )
        .toEqual(['approval.requested'])
      const approver = api().withKey(await createTestKey(api(), ['approvals:write'], projectId))
      const approved = await approver.post(`/v1/operations/${id}/approve`, { reason: 'Called the customer' })
      expect(approved).toMatchObject({
        status: 200,
        body: {
          state: 'approved',
          reason: 'Called the customer',
          approval: { decided_by: expect.stringMatching(/^key_/) },
        },
      })
      expect((await approver.post(`/v1/operations/${id}/approve`)).body).toEqual(approved.body)
      const reader = api().withKey(await createTestKey(api(), ['read'], projectId))
      expect((await reader.get(`/v1/operations/${id}`)).body.decided_by_name).toBe('approvals:write')
      const rows = await auditOf(testApi(), id)
      expect(rows.map(({ action, key_id }) => [action, key_id]).at(-1)).toEqual([
        'operation.approve',
        approved.body.approval.decided_by,
      ])
      expect(rows).toHaveLength(2)
      expect((await api().post(`/v1/operations/${id}/transitions`, { to: 'completed' })).body).toMatchObject({
        state: 'completed',
        unapproved: null,
      })
    })

    test('cannot be given by the key that reports the operation', async () => {
      const { projectId, report } = await open()
      const { operation_id: id } = (await report()).body
      const reporter = api().withKey(await createTestKey(api(), ['operations:write', 'manage', 'read'], projectId))
      expect(await reporter.post(`/v1/operations/${id}/approve`)).toMatchObject({
        status: 403,
        body: { code: 'forbidden', detail: expect.stringContaining('approvals:write') },
      })
      const sly = await reporter.post(`/v1/operations/${id}/transitions`, { to: 'approved' })
      expect(sly).toMatchObject({ status: 409, body: { code: 'illegal_transition' } })
      expect(sly.body.detail).toContain('/approve')
      expect(await report({ state: 'approved' })).toMatchObject({ status: 409, body: { code: 'illegal_transition' } })
    })

    test('cannot be given by whoever reported the operation, also with the scope', async () => {
      const { projectId, processorId, report } = await open()
      const { operation_id: id } = (await report()).body
      const own = await api().post(`/v1/operations/${id}/approve`)
      expect(own).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      expect(own.body.detail).toContain('whoever reported it may not approve it')
      expect((await api().get(`/v1/operations/${id}`)).body.state).toBe('approval_pending')
      const other = api().withKey(await createTestKey(api(), ['approvals:write'], projectId))
      expect((await other.post(`/v1/operations/${id}/approve`)).body).toMatchObject({ state: 'approved' })

      const manager = await createTestPerson(testApi(), [{ project_id: projectId, role: 'admin' }])
      const refund = { connection_id: processorId, kind: 'refund', subject: 'pi_2' }
      const { operation_id: ofPerson } = (await manager.browser.post('/v1/operations', refund)).body
      expect((await manager.browser.post(`/v1/operations/${ofPerson}/approve`)).status).toBe(403)
      expect((await manager.browser.post(`/v1/operations/${ofPerson}/decline`)).status).toBe(200)
    })

    test('and reports are scopes of two keys', async () => {
      const scopes = ['read', 'operations:write', 'approvals:write']
      const answer = await api().post('/v1/api-keys', { name: 'x', scopes })
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'body.scopes' }] } })
    })

    test('that are skipped leave an operation that explains nothing', async () => {
      const { report } = await open()
      const outright = await report({ state: 'completed', provider_ref: 're_1' })
      expect(outright).toMatchObject({ status: 201, body: { state: 'completed', unapproved: 'never_asked' } })
      const { operation_id: id } = (await report()).body
      const sent = await api().post(`/v1/operations/${id}/transitions`, { to: 'executing' })
      expect(sent).toMatchObject({ status: 200, body: { state: 'executing', unapproved: 'outstanding' } })
      const late = await api().post(`/v1/operations/${id}/approve`)
      expect(late).toMatchObject({ status: 409, body: { code: 'illegal_transition' } })
    })

    test('that are refused end the operation', async () => {
      const { report } = await open()
      const { operation_id: id } = (await report()).body
      const declined = await api().post(`/v1/operations/${id}/decline`, { reason: 'Twice' })
      expect(declined).toMatchObject({ status: 200, body: { state: 'declined', reason: 'Twice' } })
      expect((await api().post(`/v1/operations/${id}/approve`)).status).toBe(409)
    })

    test('are refused at the deadline', async () => {
      const { report } = await open()
      const { operation_id: id } = (await report()).body
      testApi().advanceClock(2 * HOUR)
      const late = await api().post(`/v1/operations/${id}/approve`)
      expect(late).toMatchObject({ status: 409, body: { code: 'illegal_transition' } })
      expect(late.body.detail).toMatch(/the deadline of the approval was .*; report a new operation instead/)
    })

    test('of an operation that did not request approval are refused', async () => {
      const { processorId } = await createTestProject(api())
      const refund = { connection_id: processorId, kind: 'refund', subject: 'pi_1' }
      const { operation_id: id } = (await api().post('/v1/operations', refund)).body
      expect(await api().post(`/v1/operations/${id}/approve`)).toMatchObject({ status: 409 })
      expect((await api().post('/v1/operations/op_none/approve')).status).toBe(404)
    })
  })
}
