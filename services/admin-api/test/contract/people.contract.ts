import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { auditOf, createTestKey, createTestPerson, createTestProject } from './test-project.ts'

export function describePeople(testApi: () => TestApi): void {
  const api = () => testApi().api

  describe('people', () => {
    test('with roles in several projects name the project of a list, and see each with its own role', async () => {
      const [a, b] = [await createTestProject(api()), await createTestProject(api())]
      const other = await createTestProject(api())
      const { browser } = await createTestPerson(testApi(), [
        { project_id: a.projectId, role: 'viewer' },
        { project_id: b.projectId, role: 'manager' },
      ])
      const projects = (await browser.get('/v1/projects')).body.data.map(
        (one: { project_id: string }) => one.project_id,
      )
      expect(projects.toSorted()).toEqual([a.projectId, b.projectId].toSorted())
      expect(await browser.get('/v1/actions')).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect((await browser.get(`/v1/actions?project_id=${a.projectId}`)).status).toBe(200)
      expect((await browser.get(`/v1/actions?project_id=${other.projectId}`)).status).toBe(404)
      const connection = { kind: 'processor', name: 'x' }
      expect((await browser.post(`/v1/projects/${b.projectId}/connections`, connection)).status).toBe(201)
      // The person may know this project, so the refusal says that the role is missing.
      expect(await browser.post(`/v1/projects/${a.projectId}/connections`, connection)).toMatchObject({
        status: 403,
        body: { code: 'forbidden' },
      })
      expect((await browser.post(`/v1/projects/${other.projectId}/connections`, connection)).status).toBe(404)
    })

    test('get a role in one project from its admin, and in all projects only from an admin of all', async () => {
      const { projectId } = await createTestProject(api())
      const other = await createTestProject(api())
      const { personId } = await createTestPerson(testApi(), [{ project_id: projectId, role: 'viewer' }])
      const admin = api().withKey(await createTestKey(api(), ['admin'], projectId))
      const path = `/v1/people/${personId}`
      const change = (role: object) => admin.patch(path, { roles: [role] })
      expect((await change({ project_id: projectId, role: 'approver' })).body.roles).toEqual([
        { project_id: projectId, role: 'approver', source: 'assigned' },
      ])
      expect((await change({ project_id: other.projectId, role: 'viewer' })).status).toBe(404)
      expect((await change({ project_id: null, role: 'viewer' })).status).toBe(403)
      expect((await admin.patch(path, { disabled: true })).status).toBe(403)
      expect((await admin.delete(path)).status).toBe(403)
      expect((await api().patch(path, { roles: [{ project_id: null, role: 'viewer' }] })).status).toBe(200)
      const rows = await auditOf(testApi(), personId)
      expect(rows.map(({ action }) => action)).toEqual(
        expect.arrayContaining(['person.create', 'person.change', 'sign_in_link.create']),
      )
    })

    test('are listed to the admins of their projects, also with a role in all projects', async () => {
      const { projectId } = await createTestProject(api())
      const other = await createTestProject(api())
      const here = await createTestPerson(testApi(), [{ project_id: projectId, role: 'viewer' }])
      const everywhere = await createTestPerson(testApi(), [{ project_id: null, role: 'viewer' }])
      const there = await createTestPerson(testApi(), [{ project_id: other.projectId, role: 'viewer' }])
      const admin = api().withKey(await createTestKey(api(), ['admin'], projectId))
      const ids = (await admin.get('/v1/people')).body.data.map((one: { person_id: string }) => one.person_id)
      expect(ids).toEqual(expect.arrayContaining([here.personId, everywhere.personId]))
      expect(ids).not.toContain(there.personId)
      expect((await admin.get(`/v1/people/${there.personId}`)).status).toBe(404)
    })

    test('show an admin of one project neither their roles in other projects nor the ids of those projects', async () => {
      const [a, b] = [await createTestProject(api()), await createTestProject(api())]
      const everywhere = { project_id: null, role: 'viewer' } as const
      const own = { project_id: a.projectId, role: 'responder' } as const
      const { personId } = await createTestPerson(testApi(), [
        own,
        { project_id: b.projectId, role: 'admin' },
        everywhere,
      ])
      const admin = api().withKey(await createTestKey(api(), ['admin'], a.projectId))
      const path = `/v1/people/${personId}`
      const changed = await admin.patch(path, { roles: [{ ...own, role: 'manager' }] })
      const answers = [changed, await admin.get(path), await admin.get(`/v1/people?project_id=${a.projectId}`)]
      for (const { body } of answers) expect(JSON.stringify(body)).not.toContain(b.projectId)
      expect(changed.body.roles).toEqual([
        { project_id: a.projectId, role: 'manager', source: 'assigned' },
        { project_id: null, role: 'viewer', source: 'assigned' },
      ])
      expect((await api().get(path)).body.roles).toHaveLength(3)
    })

    test('have one audit row in each project whose role changes, without the roles in other projects', async () => {
      const [a, b] = [await createTestProject(api()), await createTestProject(api())]
      const inB = { project_id: b.projectId, role: 'viewer' } as const
      const { personId } = await createTestPerson(testApi(), [{ project_id: a.projectId, role: 'viewer' }, inB])
      const rowsIn = async (projectId: string) =>
        (await auditOf(testApi(), personId)).filter(row => row.project_id === projectId)
      expect((await rowsIn(a.projectId)).map(({ action }) => action)).toEqual(['person.create'])
      expect((await rowsIn(b.projectId)).map(({ action }) => action)).toEqual(['person.create'])
      await api().patch(`/v1/people/${personId}`, { roles: [{ project_id: a.projectId, role: 'manager' }] })
      const rows = await rowsIn(a.projectId)
      expect(rows.map(({ action }) => action)).toEqual(['person.create', 'person.change'])
      expect(rows[1]?.changes).toEqual([
        {
          resource: personId,
          field: 'roles',
          from: [{ project_id: a.projectId, role: 'viewer' }],
          to: [{ project_id: a.projectId, role: 'manager' }],
        },
      ])
      expect(JSON.stringify(rows)).not.toContain(b.projectId)
      expect((await rowsIn(b.projectId)).map(({ action }) => action)).toEqual(['person.create'])
    })

    test.each(['disabled', 'removed'])('who are %s are signed out at once, and stay so', async how => {
      const { projectId } = await createTestProject(api())
      const { browser, personId } = await createTestPerson(testApi(), [{ project_id: projectId, role: 'viewer' }])
      const path = `/v1/people/${personId}`
      const link = await api().post('/v1/sign-in-links', { person_id: personId })
      expect((await browser.get('/v1/me')).status).toBe(200)
      if (how === 'removed') expect((await api().delete(path)).status).toBe(204)
      else expect((await api().patch(path, { disabled: true })).status).toBe(200)
      expect((await browser.get('/v1/me')).status).toBe(401)
      expect((await api().withKey(undefined).post('/v1/sessions', { token: link.body.token })).status).toBe(401)
      if (how === 'disabled') await api().patch(path, { disabled: false })
      expect((await browser.get('/v1/me')).status).toBe(401)
    })

    test('appear in the audit with their name and session', async () => {
      const { projectId } = await createTestProject(api())
      const { browser, personId, sessionId } = await createTestPerson(testApi(), [
        { project_id: projectId, role: 'manager' },
      ])
      const made = await browser.post(`/v1/projects/${projectId}/connections`, { kind: 'processor', name: 'x' })
      const [row] = await auditOf(testApi(), made.body.connection_id)
      expect(row).toMatchObject({
        key_id: null,
        actor: { kind: 'person', id: personId, name: 'Ada' },
        session_id: sessionId,
      })
    })
  })
}
