import { type ActionDocument, newId, searchKeysOfAction } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { deliveryDocument, storeIncident } from './incidents.contract.ts'
import { createTestKey, createTestProject } from './test-project.ts'

/** Tests of /v1/search. */
export function describeSearch(testApi: () => TestApi): void {
  const api = () => testApi().api

  async function storeAction(projectId: string, connectionId: string, more: Partial<ActionDocument>) {
    const { action } = await storeIncident(testApi(), projectId, connectionId)
    const stored = await testApi().others.actions.find({ _id: action })
    if (stored === undefined) throw new Error('The action is not stored')
    const changed = { ...stored, ...more }
    await testApi().others.actions.put({ ...changed, search: searchKeysOfAction(changed) })
    return action
  }
  async function search(projectId: string, q: string, more = '') {
    const { body } = await api().get(`/v1/search?project_id=${projectId}&q=${encodeURIComponent(q)}${more}`)
    return body as { data: { type: string; id: string; title: string }[]; next_cursor: string | null }
  }

  describe('a search', () => {
    test('finds an action by its ids, customer, e-mail address, amount and idempotency key', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const customer = { id: 'cus_77', name: 'Zoë Müller', email: 'zoe@example.com' }
      const origin = { channel: null, key_name: null, user: null, request_id: null, idempotency_key: 'order-4711' }
      const id = await storeAction(projectId, processorId, {
        subject: 'pi_Zoe',
        provider_ref: 're_Zoe',
        customer,
        origin,
      })
      const about = ['cus_77', 'zoe m', 'MU', 'muller', 'Zoe@']
      const queries = ['pi_zoe', 're_Z', '24.99', 'EUR 24,99', 'order-4', id]
      const [action, found] = [
        { type: 'action', id, title: 'Refund of EUR 24.99 for Zoë Müller on pi_Zoe: unexplained' },
        { type: 'customer', id: 'cus_77', title: 'Customer Zoë Müller, cus_77', connection_id: processorId },
      ]
      for (const q of queries) expect({ q, ...(await search(projectId, q)) }).toMatchObject({ q, data: [action] })
      for (const q of about) expect({ q, ...(await search(projectId, q)) }).toMatchObject({ q, data: [found, action] })
      expect((await search(projectId, 'example')).data).toEqual([])
      const { body } = await api().get(`/v1/actions/${id}`)
      expect(body).not.toHaveProperty('search')
    })

    test('finds each customer once, at most five, and none by an id that is an e-mail address', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const stored = async (id: string) =>
        await storeAction(projectId, processorId, { customer: { id, name: 'Ida Lund', email: null } })
      for (const id of ['cus_1', 'cus_1', 'ida@example.com']) await stored(id)
      const customers = async () => (await search(projectId, 'lund')).data.filter(({ type }) => type === 'customer')
      expect((await customers()).map(({ id }) => id)).toEqual(['cus_1'])
      for (const id of ['cus_2', 'cus_3', 'cus_4', 'cus_5', 'cus_6']) await stored(id)
      expect(await customers()).toHaveLength(5)
    })

    test('finds an actor by its id and by each word of the name that people gave it, and no more after its removal', async () => {
      const { projectId } = await createTestProject(api())
      const path = `/v1/projects/${projectId}/actors`
      const { actor_id } = (await api().post(path, { prefix: 'billing-', name: 'Zoë’s support tool' })).body
      for (const q of ['zoe', 'SUPPORT T', 'tool', actor_id]) {
        expect((await search(projectId, q)).data).toMatchObject([
          { type: 'actor', id: actor_id, title: 'Actor Zoë’s support tool' },
        ])
      }
      expect((await search(projectId, 'ool')).data).toEqual([])
      expect((await search((await createTestProject(api())).projectId, 'zoe')).data).toEqual([])
      await api().delete(`${path}/${actor_id}`)
      expect((await search(projectId, 'zoe')).data).toEqual([])
      expect((await search(projectId, actor_id)).data).toEqual([])
    })

    test('finds the actor with exactly this name before longer names, then the newest, and ten at most', async () => {
      const { projectId } = await createTestProject(api())
      const path = `/v1/projects/${projectId}/actors`
      const name = async (text: string, index: number) => {
        await api().post(path, { prefix: `key-${index}-`, name: text })
        testApi().advanceClock(1_000)
      }
      await name('Zoe', 0)
      for (let index = 1; index <= 10; index++) await name(`Anna Zoeller ${index}`, index)
      const titles = ['Zoe', ...[10, 9, 8, 7, 6, 5, 4, 3, 2].map(index => `Anna Zoeller ${index}`)]
      expect((await search(projectId, 'zoe')).data.map(({ title }) => title)).toEqual(titles.map(one => `Actor ${one}`))
    })

    test('counts actors to the limit of a page, and continues with the next actor, then with customers and actions', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const customer = { id: 'cus_77', name: 'Zoe Kern', email: null }
      const actions = [await storeAction(projectId, processorId, { customer })]
      actions.push(await storeAction(projectId, processorId, { customer }))
      const actors: string[] = []
      for (const prefix of ['billing-', 'support-', 'night-']) {
        const body = { prefix, name: `Zoe ${prefix}` }
        actors.push((await api().post(`/v1/projects/${projectId}/actors`, body)).body.actor_id)
      }
      for (const limit of [1, 2, 3, 4]) {
        const pages: string[][] = []
        let cursor: string | null = ''
        while (cursor !== null) {
          const page = await search(projectId, 'zoe', `&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`)
          pages.push(page.data.map(({ id }) => id))
          cursor = page.next_cursor
        }
        const found = pages.flat()
        expect(Math.max(...pages.map(({ length }) => length))).toBe(limit)
        expect(found.slice(0, 3).toSorted()).toEqual(actors.toSorted())
        expect(found[3]).toBe('cus_77')
        expect(found.slice(4).toSorted()).toEqual(actions.toSorted())
      }
    })

    test('finds an actor that nobody named by its id, in the words of the provider, and none of another project', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const actor_id = newId('actor')
      const origin = { channel: 'api', key_name: 'Billing server', user: null, request_id: null } as const
      const unnamed = newId('actor')
      await storeAction(projectId, processorId, { actor_id, origin: { ...origin, idempotency_key: null } })
      await storeAction(projectId, processorId, { actor_id: unnamed })
      expect((await search(projectId, actor_id)).data).toMatchObject([
        { type: 'actor', id: actor_id, title: 'Actor Billing server' },
      ])
      expect((await search(projectId, unnamed)).data).toMatchObject([{ id: unnamed, title: `Actor ${unnamed}` }])
      expect((await search((await createTestProject(api())).projectId, actor_id)).data).toEqual([])
    })

    test('finds incidents, deliveries, connections, channels and operations by their ids', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const { incident, alertId, at } = await storeIncident(testApi(), projectId, processorId)
      const delivery = deliveryDocument(projectId, alertId, at)
      await testApi().others.deliveries.put(delivery)
      const config = { kind: 'webhook', url: 'https://hooks.example.test/search' }
      const body = { project_id: projectId, name: 'Hook', events: ['run.failed'], config }
      const { channel_id } = (await api().post('/v1/alert-channels', body)).body
      const refund = { connection_id: processorId, kind: 'refund', subject: 'pi_5', amount: 5, currency: 'eur' }
      const { operation_id } = (await api().post('/v1/operations', refund)).body
      for (const [type, id] of Object.entries({
        incident,
        delivery: delivery._id,
        connection: processorId,
        channel: channel_id,
        operation: operation_id,
      })) {
        expect((await search(projectId, id)).data).toMatchObject([{ type, id }])
      }
    })

    test('pages through actions with the same beginning, the exact match first, without repeats', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const ids: string[] = []
      for (const subject of ['pi_pagex', 'pi_page', 'pi_pagey', 'pi_page']) {
        // Each is found by two keys.
        ids.push(await storeAction(projectId, processorId, { subject, provider_ref: `pi_page_${ids.length}` }))
      }
      const seen: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page = await search(projectId, 'PI_PAGE', `&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`)
        seen.push(...page.data.map(({ id }) => id))
        cursor = page.next_cursor
      }
      expect(seen.slice(0, 2).toSorted()).toEqual([ids[1], ids[3]].toSorted())
      expect(seen.toSorted()).toEqual(ids.toSorted())
    })

    test('finds incidents by the keys of their actions, together with the other filters of the list', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const incidentOf = async (subject: string, state: 'open' | 'resolved') => {
        const action = await storeAction(projectId, processorId, { subject, provider_ref: `${subject}_refund` })
        const [incident] = await testApi().others.incidents.findAll({ action_id: action })
        if (incident === undefined) throw new Error('The incident is not stored')
        await testApi().others.incidents.put({ ...incident, state })
        return incident._id
      }
      const open = await incidentOf('pi_list_1', 'open')
      const resolved = await incidentOf('pi_list_2', 'resolved')
      const other = await incidentOf('pi_other', 'open')
      await storeAction(projectId, processorId, { subject: 'pi_list_3', incident_id: null })
      const find = async (query: string, of = projectId) => {
        const { body } = await api().get(`/v1/incidents?project_id=${of}&${query}`)
        return body.data.map(({ incident_id }: { incident_id: string }) => incident_id).toSorted()
      }
      expect(await find('q=PI_list')).toEqual([open, resolved].toSorted())
      expect(await find('q=pi_list&state=resolved')).toEqual([resolved])
      expect(await find(`q=${other}`)).toEqual([other])
      expect(await find('q=pi_nothing')).toEqual([])
      const foreign = await createTestProject(api(), 'Foreign')
      expect(await find(`q=${other}`, foreign.projectId)).toEqual([])
      expect(await api().get('/v1/incidents?q=pi_list')).toMatchObject({ status: 400 })
    })

    test('finds nothing of another project, and needs a project', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const id = await storeAction(projectId, processorId, { subject: 'pi_hidden' })
      const foreign = await createTestProject(api(), 'Foreign')
      const stranger = api().withKey(await createTestKey(api(), ['read'], foreign.projectId))
      for (const q of [id, processorId, 'pi_hidden'])
        expect((await stranger.get(`/v1/search?q=${q}`)).body.data).toEqual([])
      expect(await stranger.get(`/v1/search?project_id=${projectId}&q=pi`)).toMatchObject({ status: 404 })
      expect(await api().get('/v1/search?q=pi')).toMatchObject({ status: 400 })
      expect(await api().get(`/v1/search?project_id=${newId('project')}&q=p`)).toMatchObject({ status: 400 })
      expect(await api().get(`/v1/search?project_id=${projectId}&q=pi&cursor=x`)).toMatchObject({ status: 400 })
    })
  })
}
