import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { createTestProject } from './test-project.ts'

export function describeSuppressions(testApi: () => TestApi): void {
  const api = () => testApi().api
  const open = async () => {
    const { projectId } = await createTestProject(api())
    return {
      projectId,
      list: async () => (await api().get(`/v1/suppressions?project_id=${projectId}`)).body.data,
      add: (address: string) => api().post('/v1/suppressions', { project_id: projectId, address }),
      remove: (address: string) =>
        api().delete(`/v1/suppressions/${encodeURIComponent(address)}?project_id=${projectId}`),
    }
  }

  describe('the suppression list of a project', () => {
    test('accepts an address, shows it with the reason, and removes it', async () => {
      const { projectId, list, add, remove } = await open()
      const added = await add('Left+Tag@B.test')
      expect(added).toMatchObject({
        status: 201,
        body: {
          project_id: projectId,
          address: 'left+tag@b.test',
          reason: 'manual',
          detail: 'By API key key_bootstrap',
        },
      })
      expect(await list()).toEqual([added.body])
      expect((await remove('LEFT+tag@b.test')).status).toBe(204)
      expect(await list()).toEqual([])
      expect(await remove('left+tag@b.test')).toMatchObject({ status: 404, body: { code: 'not_found' } })
    })

    test('keeps the first reason, and does not affect another project', async () => {
      const { projectId, list, add } = await open()
      const at = new Date(testApi().now())
      const complained = {
        _id: `${projectId}/a@b.test`,
        project_id: projectId,
        address: 'a@b.test',
        reason: 'complaint' as const,
        detail: 'Reported by Postmark',
        soft_bounces: [],
        suppressed_at: at,
        updated_at: at,
      }
      await testApi().others.suppressions.put(complained)
      const shown = {
        project_id: projectId,
        address: 'a@b.test',
        reason: 'complaint',
        detail: 'Reported by Postmark',
        suppressed_at: at.toISOString(),
      }
      expect((await add('a@b.test')).body).toEqual(shown)
      expect(await list()).toEqual([shown])
      expect(await (await open()).list()).toEqual([])
    })

    test('does not contain an address whose bounces are only counted', async () => {
      const { projectId, list, remove } = await open()
      const at = new Date(testApi().now())
      await testApi().others.suppressions.put({
        _id: `${projectId}/a@b.test`,
        project_id: projectId,
        address: 'a@b.test',
        reason: null,
        detail: 'Mailbox full',
        soft_bounces: [at],
        suppressed_at: null,
        updated_at: at,
      })
      expect(await list()).toEqual([])
      expect((await remove('a@b.test')).status).toBe(404)
    })

    test('shows the requested suppression while the notifier is down', async () => {
      const { add, projectId } = await open()
      testApi().setReceiverAnswer(undefined)
      expect(await add('a@b.test')).toMatchObject({ status: 201, body: { address: 'a@b.test', reason: 'manual' } })
      const wishes = () =>
        testApi().commands.filter(one => one.kind === 'suppress_address' && one.project_id === projectId)
      await expect.poll(wishes).toMatchObject([{ address: 'a@b.test', reason: 'manual' }])
      testApi().setReceiverAnswer({})
    })

    test.each(['nobody', 'a@b.test, c@d.test', 'A <a@b.test>', ''])(
      'refuses %j, which is no single address',
      async address => {
        const { add } = await open()
        expect(await add(address)).toMatchObject({ status: 400, body: { errors: [{ path: 'body.address' }] } })
      },
    )

    test('leaves no address in the log', async () => {
      const { add, remove } = await open()
      await add('private@person.test')
      await remove('private@person.test')
      await expect
        .poll(() => testApi().log.some(line => line.includes('"DELETE"') && line.includes('{address}')))
        .toBe(true)
      expect(testApi().log.join('')).not.toMatch(/private(@|%40)person/)
    })
  })
}
