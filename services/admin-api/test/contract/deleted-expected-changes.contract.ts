import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { createTestProject } from './test-project.ts'

export function describeDeletedExpectedChanges(testApi: () => TestApi): void {
  const api = () => testApi().api

  describe('a deleted expected change', () => {
    test('is still read and listed, with who deleted it and when', async () => {
      const { projectId } = await createTestProject(api())
      const body = { project_id: projectId, kind: 'refund', note: 'Goodwill' }
      const made = await api().post('/v1/expected-changes', body)
      expect(made.body).toMatchObject({ deleted_at: null, deleted_by: null })
      const path = `/v1/expected-changes/${made.body.expected_change_id}`
      expect((await api().delete(path)).status).toBe(204)
      const read = await api().get(path)
      expect(read).toMatchObject({
        status: 200,
        body: { ...made.body, deleted_at: expect.any(String), deleted_by: made.body.created_by },
      })
      expect((await api().get(`/v1/expected-changes?project_id=${projectId}`)).body.data).toEqual([read.body])
      expect((await api().delete(path)).status).toBe(404)
      expect((await api().get(path)).body).toEqual(read.body)
    })
  })
}
