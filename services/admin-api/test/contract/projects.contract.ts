import { newId } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { storeIncident } from './incidents.contract.ts'
import { createTestKey, createTestProject } from './test-project.ts'

export function describeProjects(testApi: () => TestApi): void {
  const api = () => testApi().api

  describe('projects', () => {
    test('are created, read and listed', async () => {
      const made = await api().post('/v1/projects', { name: '  Shop  ' })
      expect(made).toMatchObject({
        status: 201,
        body: { project_id: expect.stringMatching(/^prj_/), name: 'Shop', branding: {}, version: 1 },
      })
      expect(made.headers.get('etag')).toBe('"1"')
      expect((await api().get(`/v1/projects/${made.body.project_id}`)).body).toEqual(made.body)
      expect((await api().get('/v1/projects?limit=1')).body.data).toEqual([made.body])
      expect((await api().get('/v1/projects/prj_none')).status).toBe(404)
    })

    const branding = {
      name: 'Acme',
      logo_url: 'https://cdn.example.test/logo.png',
      accent_colour: '#FFB020',
      footer: 'Acme GmbH\nBerlin',
    }

    test('change their name and their branding, which the previews show', async () => {
      const { projectId } = await createTestProject(api())
      const path = `/v1/projects/${projectId}`
      const changed = await api().patch(path, { branding }, { 'if-match': '"1"' })
      expect(changed).toMatchObject({ status: 200, body: { name: 'Shop', branding, version: 2 } })
      expect(changed.headers.get('etag')).toBe('"2"')
      expect((await api().get(path)).body).toEqual(changed.body)
      const { body: mail } = await api().get(`/v1/previews?project_id=${projectId}&format=json`)
      expect(mail.subject).toMatch(/^\[Acme\] /)
      expect(mail.html).toContain('https://cdn.example.test/logo.png')
      expect((await api().patch(path, { name: 'Store' })).body).toMatchObject({ name: 'Store', branding, version: 3 })
      const plain = await api().patch(path, { branding: {} })
      expect(plain.body.branding).toEqual({})
      const late = await api().patch(path, { name: 'x' }, { 'if-match': '"1"' })
      expect(late).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
    })

    const refused: { name: string; branding: unknown; code?: string; path?: string }[] = [
      { name: 'an http logo', branding: { logo_url: 'http://cdn.example.test/l.png' }, path: 'body.branding.logo_url' },
      { name: 'a logo that is no URL', branding: { logo_url: 'logo.png' }, path: 'body.branding.logo_url' },
      { name: 'a script for a logo', branding: { logo_url: 'javascript:alert(1)' }, path: 'body.branding.logo_url' },
      { name: 'a blocked logo', branding: { logo_url: 'https://blocked.test/l.png' }, code: 'egress_blocked' },
      { name: 'a colour by name', branding: { accent_colour: 'red' }, path: 'body.branding.accent_colour' },
      {
        name: 'a colour with more behind it',
        branding: { accent_colour: '#112233;}' },
        path: 'body.branding.accent_colour',
      },
      { name: 'a long name', branding: { name: 'x'.repeat(61) }, path: 'body.branding.name' },
      { name: 'a long footer', branding: { footer: 'x'.repeat(501) }, path: 'body.branding.footer' },
      { name: 'an unknown field', branding: { font: 'Comic Sans' }, path: 'body.branding.font' },
      { name: 'nothing at all', branding: undefined, path: 'body' },
    ]
    test.each(refused)('refuse branding with $name', async ({ branding: look, code = 'invalid_request', path }) => {
      const { projectId } = await createTestProject(api())
      const answer = await api().patch(`/v1/projects/${projectId}`, { branding: look })
      expect(answer).toMatchObject({ status: 400, body: { code } })
      if (path !== undefined) {
        expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path)
      }
    })

    test('count their unresolved incidents with the money, the actions being checked and the approvals, however many there are', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const { actions, incidents } = testApi().others
      const store = async (atMs: number, change: { action?: object; incident?: object }) => {
        const ids = await storeIncident(testApi(), projectId, processorId, atMs)
        const action = await actions.find({ _id: ids.action })
        const incident = await incidents.find({ _id: ids.incident })
        if (action !== undefined) await actions.put({ ...action, ...change.action })
        if (incident !== undefined) await incidents.put({ ...incident, ...change.incident })
        return ids
      }
      const now = testApi().now()
      for (let at = 0; at < 202; at++) await storeIncident(testApi(), projectId, processorId, now + at)
      const oldest = now - 60_000
      const acknowledged = await store(oldest, {
        action: { amount: 7, mode: 'test' },
        incident: { state: 'acknowledged' },
      })
      await store(now - 120_000, { incident: { state: 'resolved' } })
      await store(now, { action: { state: 'failed' } })
      // A second incident about the same action, for example drift: its money counts once.
      await store(now, { incident: { action_id: acknowledged.action } })
      const pending = { verdict: 'pending', incident_id: null } as const
      for (const more of [{}, { kind: 'cancellation' }, { merged_into: newId('action') }, { kind: 'dispute' }]) {
        await store(now, { action: { ...pending, ...more }, incident: { state: 'resolved' } })
      }
      await api().patch(`/v1/projects/${projectId}`, { requires_approval: true })
      for (const subject of ['pi_a', 'pi_b']) {
        await api().post('/v1/operations', { connection_id: processorId, kind: 'refund', subject })
      }

      const { status, body } = await api().get(`/v1/projects/${projectId}/unresolved`)
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          open: 204,
          acknowledged: 1,
          since: new Date(oldest).toISOString(),
          money: [
            { currency: 'eur', mode: null, amount: 202 * 2499, count: 202 },
            { currency: 'eur', mode: 'test', amount: 7, count: 1 },
          ],
          being_checked: 2,
          approvals_pending: 2,
        },
      })
      const other = await createTestProject(api())
      const stranger = api().withKey(await createTestKey(api(), ['read'], other.projectId))
      expect((await stranger.get(`/v1/projects/${projectId}/unresolved`)).status).toBe(404)
      expect((await stranger.get(`/v1/projects/${other.projectId}/unresolved`)).body).toMatchObject({
        open: 0,
        since: null,
      })
    })
  })
}
