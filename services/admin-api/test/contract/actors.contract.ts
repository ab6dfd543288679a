import { type ActionDocument, type DailyActor, NOTHING_IN_COMMON, type ShownIncident } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { storeBurst, storeIncident } from './incidents.contract.ts'
import { auditOf, createTestKey, createTestProject } from './test-project.ts'

const DAY = (day: number) => new Date(Date.UTC(2026, 10, day))

/** Stores an action of an actor, as the reconciler does. */
export async function storeActor(testApi: TestApi, projectId: string, connectionId: string): Promise<string> {
  const { action } = await storeIncident(testApi, projectId, connectionId)
  const known = (await testApi.stores.actions.find({ _id: action })) as ActionDocument
  const actor_id = `acr_${projectId}`
  const origin = { channel: 'dashboard', key_name: null, user: 'ana@example.com', request_id: null } as const
  await testApi.others.actions.put({ ...known, actor_id, origin: { ...origin, idempotency_key: null } })
  return actor_id
}

export function describeActors(testApi: () => TestApi): void {
  const open = async () => {
    const { api } = testApi()
    const { projectId, processorId } = await createTestProject(api)
    const actorId = await storeActor(testApi(), projectId, processorId)
    const path = `/v1/projects/${projectId}/actors`
    const count = async (day: number, connection_id: string, actors: readonly Omit<DailyActor, 'first' | 'last'>[]) => {
      const [first, last] = [DAY(day).toISOString(), new Date(DAY(day).getTime() + 3_600_000).toISOString()]
      await testApi().others.dailyTotals.put({
        ...{ _id: `${connection_id}/${day}`, project_id: projectId, connection_id, day: DAY(day) },
        ...{ marks: 1, counted: 1, totals: [], times: { verdict: [], acknowledgement: [], resolution: [] } },
        ...{ actors: actors.map(actor => ({ ...actor, first, last })), actor_count: actors.length },
      })
    }
    const refunds = { actor_id: actorId, kind: 'refund', currency: 'eur', mode: 'live' } as const
    return { api, projectId, processorId, actorId, path, count, refunds }
  }

  describe('the actors of a project', () => {
    test('are listed with their words, their times, and their counts over all days and connections', async () => {
      const { api, path, actorId, count, refunds, projectId, processorId } = await open()
      await count(3, processorId, [
        { ...refunds, count: 2, amount: 500 },
        { ...refunds, kind: 'cancellation', currency: null, count: 1, amount: 0 },
      ])
      await count(9, `con_other_${projectId}`, [
        { ...refunds, count: 1, amount: 100 },
        { ...refunds, mode: 'test', count: 1, amount: 900 },
      ])
      expect(await api.get(path)).toMatchObject({
        status: 200,
        body: {
          data: [
            {
              actor_id: actorId,
              kind: 'dashboard_user',
              label: 'ana@example.com',
              ...{ provider: 'processor', name: null, role: 'unknown', actions: 5, version: 0 },
              first_at: '2026-11-03T00:00:00.000Z',
              last_at: '2026-11-09T01:00:00.000Z',
              totals: [
                { kind: 'refund', currency: 'eur', mode: 'live', count: 3, amount: 600 },
                { kind: 'cancellation', currency: null, mode: 'live', count: 1, amount: 0 },
                { kind: 'refund', currency: 'eur', mode: 'test', count: 1, amount: 900 },
              ],
            },
          ],
          next_cursor: null,
        },
      })
      expect((await api.get(`${path}?kind=api_key`)).body.data).toEqual([])
      expect((await api.get(`${path}?kind=dashboard_user`)).body.data).toHaveLength(1)
    })

    test('are read one by one, also without a name, and an unknown one is not found', async () => {
      const { api, path, actorId, count, refunds, processorId } = await open()
      await count(3, processorId, [{ ...refunds, count: 2, amount: 500 }])
      expect(await api.get(`${path}/${actorId}`)).toMatchObject({
        status: 200,
        body: { actor_id: actorId, label: 'ana@example.com', name: null, actions: 2, totals: [{ amount: 500 }] },
      })
      await api.patch(`${path}/${actorId}`, { name: 'Ana' })
      expect((await api.get(`${path}/${actorId}`)).body).toMatchObject({ name: 'Ana', actions: 2, version: 1 })
      expect((await api.get(`${path}/acr_none`)).status).toBe(404)
    })

    test('are listed page by page, the last to act first', async () => {
      const { api, path, count, refunds, processorId } = await open()
      const ids = ['acr_a', 'acr_b', 'acr_c', 'acr_d', 'acr_e']
      for (const [index, actor_id] of ids.entries()) {
        await count(1 + Math.floor(index / 2), `${processorId}${index}`, [
          { ...refunds, actor_id, count: 1, amount: 1 },
        ])
      }
      const listed: string[] = []
      let cursor: string | null = null
      do {
        const { body }: { body: { data: { actor_id: string }[]; next_cursor: string | null } } = await api.get(
          `${path}?limit=2${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        )
        listed.push(...body.data.map(({ actor_id }) => actor_id))
        cursor = body.next_cursor
      } while (cursor !== null)
      expect(listed).toEqual(['acr_e', 'acr_d', 'acr_c', 'acr_b', 'acr_a'])
    })

    test('get a name and a role, which actions show, with an audit row and the scope manage', async () => {
      const { api, path, actorId, projectId, count, refunds, processorId } = await open()
      await count(3, processorId, [{ ...refunds, count: 2, amount: 500 }])
      const named = await api.patch(`${path}/${actorId}`, { name: 'Ana', role: 'person' })
      expect(named).toMatchObject({ status: 200, body: { name: 'Ana', role: 'person', actions: 2, version: 1 } })
      const { body } = await api.get(`/v1/actions?actor_id=${actorId}&project_id=${projectId}`)
      expect(body.data).toMatchObject([{ actor_id: actorId, actor_name: 'Ana' }])
      expect((await api.get(`/v1/actions/${body.data[0].action_id}`)).body).toMatchObject({ actor_name: 'Ana' })
      const { incident_id } = body.data[0]
      await testApi().others.incidents.change({ _id: incident_id }, { actor_id: actorId })
      const actor = { value: actorId, kind: 'dashboard_user', count: 12 } as const
      const common = { ...NOTHING_IN_COMMON, actor }
      const burst = await storeBurst(testApi(), projectId, processorId, 'stm_none', { common })
      const incidents = (await api.get(`/v1/incidents?project_id=${projectId}`)).body.data
      const shown = new Map(incidents.map((one: ShownIncident) => [one.incident_id, one]))
      expect(shown.get(incident_id)).toMatchObject({ actor_name: 'Ana' })
      expect(shown.get(burst)).toMatchObject({ burst: { common: { actor: { ...actor, name: 'Ana' } } } })
      expect((await api.get(`/v1/incidents/${incident_id}`)).body.action).toMatchObject({ actor_name: 'Ana' })
      expect((await api.get(`${path}?role=person`)).body.data).toMatchObject([{ name: 'Ana' }])
      expect((await api.get(`${path}?role=canary`)).body.data).toEqual([])
      expect(await auditOf(testApi(), actorId)).toMatchObject([
        { action: 'actor.change', project_id: projectId, changes: expect.arrayContaining([expect.anything()]) },
      ])
      const reader = api.withKey(await createTestKey(api, ['read'], projectId))
      expect((await reader.patch(`${path}/${actorId}`, { name: 'Eve' })).status).toBe(403)
      expect((await reader.get(path)).status).toBe(200)
    })

    test('keep what a patch leaves out, and remember since when they have a role', async () => {
      const { api, path, actorId } = await open()
      await api.patch(`${path}/${actorId}`, { name: 'Backup key', role: 'canary' })
      const since = async () => (await testApi().stores.actors.find({ _id: actorId }))?.role_since.getTime()
      const first = await since()
      testApi().advanceClock(60_000)
      expect((await api.patch(`${path}/${actorId}`, { name: 'Old key' })).body).toMatchObject({ role: 'canary' })
      expect(await since()).toBe(first)
      expect((await api.patch(`${path}/${actorId}`, { role: 'ours' })).body).toMatchObject({ name: 'Old key' })
      await api.patch(`${path}/${actorId}`, { role: 'canary' })
      expect(await since()).toBeGreaterThanOrEqual((first ?? 0) + 60_000)
      const stale = await api.patch(`${path}/${actorId}`, { name: 'x' }, { 'if-match': '"1"' })
      expect(stale).toMatchObject({ status: 412 })
    })

    test('lose their name and role when these are removed, and stay in the list', async () => {
      const { api, path, actorId, count, refunds, processorId } = await open()
      await count(3, processorId, [{ ...refunds, count: 2, amount: 500 }])
      await api.patch(`${path}/${actorId}`, { name: 'Ana', role: 'canary' })
      expect((await api.delete(`${path}/${actorId}`)).status).toBe(204)
      expect((await api.get(path)).body.data).toMatchObject([{ actor_id: actorId, name: null, role: 'unknown' }])
      expect((await api.delete(`${path}/${actorId}`)).status).toBe(404)
      expect((await api.patch(`${path}/${actorId}`, { role: 'ours' })).body).toMatchObject({ name: null, role: 'ours' })
    })

    test('that are users have no name in a burst of a deleted connection, and other actors keep theirs', async () => {
      const { api, path, actorId, projectId, processorId } = await open()
      await api.patch(`${path}/${actorId}`, { name: 'Ana' })
      const burstBy = (kind: 'dashboard_user' | 'api_key') => {
        const common = { ...NOTHING_IN_COMMON, actor: { value: actorId, kind, count: 12 } }
        return storeBurst(testApi(), projectId, processorId, 'stm_none', { common })
      }
      const [byUser, byKey] = [await burstBy('dashboard_user'), await burstBy('api_key')]
      const nameOf = async (id: string) => (await api.get(`/v1/incidents/${id}`)).body.burst.common.actor.name
      expect([await nameOf(byUser), await nameOf(byKey)]).toEqual(['Ana', 'Ana'])
      expect((await api.delete(`/v1/projects/${projectId}/connections/${processorId}`)).status).toBe(204)
      expect([await nameOf(byUser), await nameOf(byKey)]).toEqual([undefined, 'Ana'])
    })

    test('that people named are listed without counts too, so that the name can be removed', async () => {
      const { api, path, actorId } = await open()
      await api.patch(`${path}/${actorId}`, { name: 'Ana', role: 'person' })
      const listed = [{ actor_id: actorId, name: 'Ana', role: 'person', actions: 0, last_at: null }]
      expect((await api.get(path)).body.data).toMatchObject(listed)
      await testApi().others.actions.remove({ actor_id: actorId })
      expect((await api.get(path)).body.data).toMatchObject([{ ...listed[0], kind: null, label: null }])
      expect((await api.delete(`${path}/${actorId}`)).status).toBe(204)
      expect((await api.get(path)).body.data).toEqual([])
    })

    test('are in the statement of a connection and of the project, with their names, also as CSV', async () => {
      const { api, path, actorId, count, refunds, projectId, processorId } = await open()
      const other = { ...refunds, actor_id: 'acr_other', count: 1, amount: 5 }
      await count(1, processorId, [{ ...refunds, count: 2, amount: 500 }, other])
      await count(30, processorId, [{ ...refunds, count: 1, amount: 100 }])
      await count(31, processorId, [{ ...refunds, count: 1, amount: 7 }])
      await count(2, `con_other_${projectId}`, [{ ...refunds, mode: 'test', count: 9, amount: 900 }])
      await api.patch(`${path}/${actorId}`, { name: '=Ana, "A"' })
      const named = { actor_id: actorId, actor_name: '=Ana, "A"', kind: 'refund', currency: 'eur' }
      const live = { ...named, mode: 'live', count: 3, amount: 600 }
      const read = async (query: string) => (await api.get(`/v1/statements?month=2026-11&${query}`)).body
      expect((await read(`connection_id=${processorId}`)).actors).toEqual([live, other])
      expect((await read(`project_id=${projectId}`)).actors).toEqual([
        { ...named, mode: 'test', count: 9, amount: 900 },
        live,
        other,
      ])
      expect((await read(`connection_id=${processorId}&format=csv&by=actor`)).split('\r\n')).toEqual([
        'connection_id,month_utc,actor_id,actor_name,kind,currency,mode,count,amount,amount_minor_units,recount_pending,actors_complete',
        `${processorId},2026-11,${actorId},"'=Ana, ""A""",refund,eur,live,3,6.00,600,false,true`,
        `${processorId},2026-11,acr_other,,refund,eur,live,1,0.05,5,false,true`,
        '',
      ])
    })

    test('that act most fill the 1,000 lines of a statement, which says that there are more', async () => {
      const { api, count, refunds, processorId } = await open()
      const others = Array.from({ length: 999 }, (_, index) => ({
        ...refunds,
        actor_id: `acr_${index}`,
        count: 2,
        amount: 9,
      }))
      const read = async () => (await api.get(`/v1/statements?month=2026-11&connection_id=${processorId}`)).body
      await count(1, processorId, [...others, { ...refunds, count: 1, amount: 5 }])
      expect(await read()).toMatchObject({ actors_complete: true, actors: { length: 1_000 } })
      await count(2, processorId, [{ ...refunds, actor_id: 'acr_more', count: 2, amount: 9 }])
      const { actors, actors_complete } = await read()
      expect({ actors_complete, lines: actors.length }).toEqual({ actors_complete: false, lines: 1_000 })
      expect(actors.map(({ count: times }: { count: number }) => times)).not.toContain(1)
      const csv = await api.get(`/v1/statements?month=2026-11&connection_id=${processorId}&format=csv&by=actor`)
      expect(csv.body.split('\r\n')).toHaveLength(1_002)
      expect(csv.body).toMatch(/,2,0\.09,9,false,false\r\n$/)
    })

    test('that were never seen, or belong to another project, cannot be named', async () => {
      const { api, path } = await open()
      const other = await open()
      expect((await api.patch(`${path}/acr_none`, { name: 'x' })).status).toBe(404)
      expect((await api.patch(`${path}/${other.actorId}`, { name: 'x' })).status).toBe(404)
      expect((await api.patch(`${path}/acr_none`, {})).status).toBe(400)
    })

    test('of which all actions were archived keep their counts, and can be named', async () => {
      const { api, path, count, refunds, processorId } = await open()
      await count(3, processorId, [{ ...refunds, actor_id: 'acr_archived', count: 2, amount: 500 }])
      const named = await api.patch(`${path}/acr_archived`, { name: 'Old tool' })
      expect(named).toMatchObject({ status: 200, body: { name: 'Old tool', label: null, actions: 2 } })
    })

    test('include declared prefixes, each once, until they are removed', async () => {
      const { api, path, projectId } = await open()
      const made = await api.post(path, { prefix: 'billing-', name: 'Support tool' })
      expect(made).toMatchObject({
        status: 201,
        body: { kind: 'key_prefix', label: 'billing-', provider: 'processor', name: 'Support tool', role: 'ours' },
      })
      const id = made.body.actor_id
      expect((await api.post(path, { prefix: 'billing-', name: 'Again' })).status).toBe(409)
      expect((await api.get(`${path}?kind=key_prefix`)).body.data).toMatchObject([{ actor_id: id, actions: 0 }])
      expect((await api.patch(`${path}/${id}`, { name: 'Desk' })).body).toMatchObject({ name: 'Desk', role: 'ours' })
      expect(await auditOf(testApi(), id)).toMatchObject([
        { action: 'actor.declare', project_id: projectId },
        { action: 'actor.change' },
      ])
      expect((await api.delete(`${path}/${id}`)).status).toBe(204)
      expect((await api.get(`${path}?kind=key_prefix`)).body.data).toEqual([])
      expect((await api.patch(`${path}/${id}`, { name: 'x' })).status).toBe(404)
      expect((await api.post(path, { prefix: 'billing-', name: 'New' })).status).toBe(201)
      for (const prefix of ['ab', 'with space', 'x'.repeat(101)]) {
        expect((await api.post(path, { prefix, name: 'x' })).status).toBe(400)
      }
    })
  })
}
