import { Problem, Role, Scope } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { scopesOfRole } from '../../src/access/rules/roles.ts'
import type { TestApi } from '../test-api.ts'
import { callEveryRoute, createProjectResources } from './every-route.ts'
import { auditRows, createTestKey, createTestPerson, createTestProject, untilChained } from './test-project.ts'

/** Routes that change the installation, and refuse every other key with 403. */
const OF_INSTALLATION: readonly string[] = [
  'createProject',
  'getInstallation',
  'getProcesses',
  'getSecretKeys',
  'rewrapSecrets',
  'verifyAudit',
  'exportAudit',
  'getAuditPublicKeys',
]
/** Routes that need the scope admin in all projects. */
const FOR_ALL_PROJECTS = new Set([...OF_INSTALLATION, 'createSignInLink', 'endSession', 'removePerson'])

/** Tests every route of the route table with keys of other projects. A new route is tested too, or the test fails. */
export function describeAccess(testApi: () => TestApi): void {
  const api = () => testApi().api

  describe('every route', () => {
    test('refuses a key that is bound to another project, and changes nothing there', async () => {
      const own = await createProjectResources(testApi())
      const foreign = await createTestProject(api(), 'Foreign')
      const stranger = api().withKey(await createTestKey(api(), ['admin'], foreign.projectId))
      await untilChained(testApi())
      const before = await linesAbout(own.projectId)
      for (const { route, method, path, body, isList } of callEveryRoute(testApi().app.routes, own)) {
        const answer = await stranger.call(method, path, { body })
        const seen = { route: route.operationId, status: answer.status }
        if (isList) {
          expect(seen).toEqual({ ...seen, status: 200 })
          expect(JSON.stringify(answer.body)).not.toContain(own.projectId)
        } else if (route.operationId === 'batchOperations') {
          expect(answer.body.results).toMatchObject([{ status: 404, operation: null }])
        } else {
          expect(seen).toEqual({ ...seen, status: OF_INSTALLATION.includes(route.operationId) ? 403 : 404 })
        }
      }
      expect(await linesAbout(own.projectId)).toEqual(before)
    })

    test('lists nothing of another project when no project is named', async () => {
      const own = await createProjectResources(testApi())
      const foreign = await createTestProject(api(), 'Foreign')
      const stranger = api().withKey(await createTestKey(api(), ['admin'], foreign.projectId))
      const lists = testApi().app.routes.filter(
        route => route.operationId.startsWith('list') && !route.path.includes('{'),
      )
      expect(lists.length).toBeGreaterThan(4)
      for (const route of lists) {
        const answer = await stranger.get(route.path)
        expect({ route: route.path, status: answer.status }).toEqual({ route: route.path, status: 200 })
        expect(JSON.stringify(answer.body)).not.toContain(own.projectId)
      }
    })

    test('a cursor of another project is refused', async () => {
      const own = await createProjectResources(testApi())
      await api().post('/v1/operations', { connection_id: own.connectionId, kind: 'refund', subject: 'pi_2' })
      const first = await api().get(`/v1/operations?project_id=${own.projectId}&limit=1`)
      const foreign = await createTestProject(api(), 'Foreign')
      const stranger = api().withKey(await createTestKey(api(), ['read'], foreign.projectId))
      const answer = await stranger.get(`/v1/operations?cursor=${first.body.next_cursor}`)
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    })

    test('succeeds with a key of the project, and writes one audit row for each change', async () => {
      const own = await createProjectResources(testApi())
      const friend = api().withKey(await createTestKey(api(), ['admin'], own.projectId))
      for (const { route, method, path, body } of callEveryRoute(testApi().app.routes, own)) {
        const caller = FOR_ALL_PROJECTS.has(route.operationId) ? api() : friend
        const answer = await caller.call(method, path, { body })
        const requestId = answer.headers.get('x-request-id') as string
        // In this test, every secret already has the primary key.
        const wantedRows = method === 'GET' || route.operationId === 'rewrapSecrets' ? 0 : 1
        const rows = await auditRows(testApi(), { request_id: requestId })
        // One row for each connection, channel and the project.
        const hasRows = route.operationId === 'removeDemoProject' ? Math.min(rows.length, 1) : rows.length
        const seen = { route: route.operationId, isDone: answer.status < 300, rows: hasRows }
        expect(seen).toEqual({ route: route.operationId, isDone: true, rows: wantedRows })
        // The status of the answer must be in the OpenAPI document.
        expect(Object.keys(route.answers)).toContain(String(answer.status))
        const fault = route.answers[answer.status]?.schema?.safeParse(answer.body).error
        expect({ route: route.operationId, fault }).toEqual({ route: route.operationId, fault: undefined })
        for (const row of rows) {
          expect(row).toMatchObject({ action: expect.stringMatching(/^[a-z_]+\.[a-z_]+$/), address: '127.0.0.1' })
          expect(row.key_id).toMatch(/^key_/)
        }
      }
    })
  })

  /** Returns every stored document that names the project, without the fields that a read changes. */
  async function linesAbout(projectId: string): Promise<string[]> {
    const stores = testApi().stores
    const all = await Promise.all([
      stores.projects.findAll({ _id: projectId }),
      stores.connections.findAll({ project_id: projectId }),
      stores.channels.findAll({ project_id: projectId }),
      stores.apiKeys.findAll({ project_id: projectId }),
      stores.audit.findAll({ project_id: projectId }),
    ])
    const operations = await api().get(`/v1/operations?project_id=${projectId}`)
    return [...all.flat(), ...operations.body.data].map(item => JSON.stringify(item)).toSorted()
  }
}

/** Tests every route with each role and each scope. Which of them is refused does not depend on the store. */
export function describeRoles(testApi: () => TestApi): void {
  const api = () => testApi().api

  describe('every route', () => {
    test('answers each role exactly if the role has the scope of the route, and only in its project', async () => {
      const own = await createProjectResources(testApi())
      const foreign = await createTestProject(api(), 'Foreign')
      for (const role of Role.options) {
        const friend = await createTestPerson(testApi(), [{ project_id: own.projectId, role }])
        const stranger = await createTestPerson(testApi(), [{ project_id: foreign.projectId, role }])
        for (const { route, method, path, body, isList } of callEveryRoute(testApi().app.routes, own)) {
          const { scope, operationId } = route
          const mayCall = scope === 'signed_in' || scopesOfRole(role).some(held => held === scope || held === 'admin')
          // What a role may change is tested with keys, in the test above. Here the call would change the resources for the next role.
          if (mayCall && method !== 'GET' && !isList) continue
          const seen = { role, route: operationId, status: (await friend.browser.call(method, path, { body })).status }
          if (mayCall && !FOR_ALL_PROJECTS.has(operationId)) expect(seen).toEqual({ ...seen, status: 200 })
          if (!mayCall) expect(seen).toEqual({ ...seen, status: 403 })
          const answer = await stranger.browser.call(method, path, { body })
          const foreignSeen = { role, route: operationId, status: answer.status }
          const refusal = OF_INSTALLATION.includes(operationId) ? 403 : 404
          const wanted = !mayCall ? 403 : isList ? 200 : refusal
          expect(foreignSeen).toEqual({ ...foreignSeen, status: wanted })
          expect(JSON.stringify(answer.body)).not.toContain(`"project_id":"${own.projectId}"`)
        }
      }
    })

    test('refuses every scope except its own, and requests without a key', async () => {
      const own = await createProjectResources(testApi())
      const keys = new Map<string, string>()
      for (const scope of Scope.options) keys.set(scope, await createTestKey(api(), [scope], own.projectId))
      for (const { route, method, path, body } of callEveryRoute(testApi().app.routes, own)) {
        const anyone = await api().withKey(undefined).call(method, path, { body })
        expect({ route: route.operationId, status: anyone.status }).toEqual({ route: route.operationId, status: 401 })
        expect(Problem.safeParse(anyone.body).error).toBeUndefined()
        for (const [scope, key] of keys) {
          if (scope === route.scope || scope === 'admin' || route.scope === 'signed_in') continue
          const { status } = await api().withKey(key).call(method, path, { body })
          expect({ route: route.operationId, scope, status }).toEqual({ route: route.operationId, scope, status: 403 })
        }
      }
    })
  })
}
