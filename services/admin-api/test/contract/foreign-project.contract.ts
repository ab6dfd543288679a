import { Problem, Scope } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { AdminWorld } from '../admin-world.ts'
import { callEveryRoute, openBelongings } from './every-route.ts'
import { openKey, openProject } from './project-of-its-own.ts'

/** The access matrix, generated from the route table: a new route is in it, or fails it, by itself. */
export function describeAccess(world: () => AdminWorld): void {
  const api = () => world().api

  describe('every route', () => {
    test('refuses a key that is bound to another project, and changes nothing there', async () => {
      const own = await openBelongings(world())
      const foreign = await openProject(api(), 'Foreign')
      const stranger = api().as(await openKey(api(), ['admin'], foreign.projectId))
      const before = await linesAbout(own.projectId)
      for (const { route, method, path, body, isList } of callEveryRoute(world().app.routes, own)) {
        const answer = await stranger.call(method, path, { body })
        const seen = { route: route.operationId, status: answer.status }
        if (isList) {
          expect(seen).toEqual({ ...seen, status: 200 })
          expect(JSON.stringify(answer.body)).not.toContain(own.projectId)
        } else {
          expect(seen).toEqual({ ...seen, status: route.operationId === 'createProject' ? 403 : 404 })
        }
      }
      expect(await linesAbout(own.projectId)).toEqual(before)
    })

    test('lists nothing of another project when no project is named', async () => {
      const own = await openBelongings(world())
      const foreign = await openProject(api(), 'Foreign')
      const stranger = api().as(await openKey(api(), ['admin'], foreign.projectId))
      const lists = world().app.routes.filter(
        route => route.operationId.startsWith('list') && !route.path.includes('{'),
      )
      expect(lists.length).toBeGreaterThan(4)
      for (const route of lists) {
        const answer = await stranger.get(route.path)
        expect({ route: route.path, status: answer.status }).toEqual({ route: route.path, status: 200 })
        expect(JSON.stringify(answer.body)).not.toContain(own.projectId)
      }
    })

    test('a cursor of another project leads to nothing of it', async () => {
      const own = await openBelongings(world())
      await api().post('/v1/operations', { connection_id: own.connectionId, kind: 'refund', subject: 'pi_2' })
      const first = await api().get(`/v1/operations?project_id=${own.projectId}&limit=1`)
      const foreign = await openProject(api(), 'Foreign')
      const stranger = api().as(await openKey(api(), ['read'], foreign.projectId))
      const answer = await stranger.get(`/v1/operations?cursor=${first.body.next_cursor}`)
      expect(answer).toMatchObject({ status: 200, body: { data: [], next_cursor: null } })
    })

    test('does what it says for a key of the project, and writes one audit row for each change', async () => {
      const own = await openBelongings(world())
      const friend = api().as(await openKey(api(), ['admin'], own.projectId))
      for (const { route, method, path, body } of callEveryRoute(world().app.routes, own)) {
        const caller = ['createProject', 'replayDeadLetter'].includes(route.operationId) ? api() : friend
        const answer = await caller.call(method, path, { body })
        const requestId = answer.headers.get('x-request-id') as string
        const rows = await world().stores.audit.findAll({ request_id: requestId })
        const wantedRows = method === 'GET' ? 0 : 1
        const seen = { route: route.operationId, isDone: answer.status < 300, rows: rows.length }
        expect(seen).toEqual({ route: route.operationId, isDone: true, rows: wantedRows })
        // What is answered is what the OpenAPI document says.
        expect(Object.keys(route.answers)).toContain(String(answer.status))
        const fault = route.answers[answer.status]?.schema?.safeParse(answer.body).error
        expect({ route: route.operationId, fault }).toEqual({ route: route.operationId, fault: undefined })
        for (const row of rows) {
          expect(row).toMatchObject({ action: expect.stringMatching(/^[a-z_]+\.[a-z_]+$/), address: '127.0.0.1' })
          expect(row.key_id).toMatch(/^key_/)
        }
      }
    })

    test('refuses every scope but its own, and refuses no key at all', async () => {
      const own = await openBelongings(world())
      const keys = new Map<string, string>()
      for (const scope of Scope.options) keys.set(scope, await openKey(api(), [scope], own.projectId))
      for (const { route, method, path, body } of callEveryRoute(world().app.routes, own)) {
        const anyone = await api().as(undefined).call(method, path, { body })
        expect({ route: route.operationId, status: anyone.status }).toEqual({ route: route.operationId, status: 401 })
        expect(Problem.safeParse(anyone.body).error).toBeUndefined()
        for (const [scope, key] of keys) {
          if (scope === route.scope || scope === 'admin') continue
          const { status } = await api().as(key).call(method, path, { body })
          expect({ route: route.operationId, scope, status }).toEqual({ route: route.operationId, scope, status: 403 })
        }
      }
    })
  })

  /** Everything stored that names the project; what a look alone changes is left out. */
  async function linesAbout(projectId: string): Promise<string[]> {
    const stores = world().stores
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
