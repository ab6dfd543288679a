import { newId } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { auditOf, createTestKey, createTestProject } from './test-project.ts'

export function describeRuns(testApi: () => TestApi): void {
  const api = () => testApi().api
  const open = async () => {
    const own = await createTestProject(api())
    const runId = newId('message')
    const report = { connection_id: own.processorId, kind: 'refund', subject: 'pi_1', run_id: runId }
    const operation = (await api().post('/v1/operations', report)).body
    return { ...own, runId, operation }
  }

  describe('runs', () => {
    test('that failed are alerted once with their operations, read and listed', async () => {
      const { projectId, runId, operation } = await open()
      const fail = () => api().post(`/v1/runs/${runId}/failed`, { reason: 'Timed out' })
      const failed = await fail()
      expect(failed).toMatchObject({
        status: 200,
        body: { run_id: runId, project_id: projectId, reason: 'Timed out', failed_at: expect.any(String) },
      })
      expect((await fail()).body).toEqual(failed.body)
      await expect
        .poll(() => testApi().alerts(projectId))
        .toEqual([
          expect.objectContaining({
            event: 'run.failed',
            data: { run: failed.body, operations: [operation], operations_total: 1 },
          }),
        ])
      expect((await api().get(`/v1/runs/${runId}`)).body).toEqual({
        run_id: runId,
        project_id: projectId,
        failure: failed.body,
        operations: [operation],
      })
      expect((await api().get(`/v1/runs?project_id=${projectId}`)).body).toEqual({
        data: [failed.body],
        next_cursor: null,
      })
      expect((await api().get(`/v1/operations?run_id=${runId}`)).body.data).toEqual([operation])
      const rows = await auditOf(testApi(), runId)
      expect(rows.map(({ action }) => action)).toEqual(['run.fail'])
    })

    test('that did not fail are found by their operations, and unknown runs are not found', async () => {
      const { runId, operation } = await open()
      expect((await api().get(`/v1/runs/${runId}`)).body).toMatchObject({ failure: null, operations: [operation] })
      expect((await api().get('/v1/runs/none')).status).toBe(404)
    })

    test('of a bound key belong to its project, even if other projects use the same name', async () => {
      const [one, other] = [await open(), await open()]
      const key = api().withKey(await createTestKey(api(), ['operations:write', 'read'], one.projectId))
      const failed = await key.post(`/v1/runs/${other.runId}/failed`)
      expect(failed).toMatchObject({ status: 200, body: { project_id: one.projectId } })
      expect((await key.get(`/v1/runs/${other.runId}`)).body).toMatchObject({ operations: [] })
      const foreign = await key.post(`/v1/runs/${other.runId}/failed`, { project_id: other.projectId })
      expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } })
      // Two projects have runs of this name, so a key for all projects must name the project.
      const unclear = await api().post(`/v1/runs/${other.runId}/failed`)
      expect(unclear).toMatchObject({ status: 400, body: { errors: [{ path: 'body.project_id' }] } })
      const clear = await api().post(`/v1/runs/${other.runId}/failed`, { project_id: other.projectId })
      expect(clear).toMatchObject({ status: 200, body: { project_id: other.projectId } })
    })

    test('may have names of any characters', async () => {
      const { projectId } = await open()
      const name = encodeURIComponent('nightly/2026-11-21 ü')
      const failed = await api().post(`/v1/runs/${name}/failed`, { project_id: projectId })
      expect(failed).toMatchObject({ status: 200, body: { run_id: 'nightly/2026-11-21 ü' } })
      expect((await api().get(`/v1/runs/${name}?project_id=${projectId}`)).body).toMatchObject({ failure: failed.body })
    })
  })
}
