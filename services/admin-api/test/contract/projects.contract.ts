import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { createTestProject } from './test-project.ts'

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
  })
}
