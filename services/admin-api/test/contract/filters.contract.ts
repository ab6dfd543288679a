import { type ActionDocument, searchKeysOfAction } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { deliveryDocument, storeIncident } from './incidents.contract.ts'
import { createTestProject } from './test-project.ts'

/** Creates a project with three actions: a refund of 10, a refund of 20, and a cancellation, an hour apart. */
async function storeActions(testApi: TestApi) {
  const { projectId, processorId } = await createTestProject(testApi.api)
  const { action } = await storeIncident(testApi, projectId, processorId)
  const first = (await testApi.stores.actions.find({ _id: action })) as ActionDocument
  const put = async (_id: string, hours: number, facts: Partial<ActionDocument>) => {
    const first_seen = new Date(Date.parse('2026-11-20T00:00:00Z') + hours * 3_600_000)
    await testApi.others.actions.put({ ...first, _id, first_seen, first_seen_at: first_seen.toISOString(), ...facts })
  }
  await put(first._id, 0, {
    kind: 'refund',
    mode: 'live',
    provider_created_at: '2026-11-18T00:00:00.000Z',
    subject: `pi_a_${projectId}`,
    provider_ref: 're_a',
    amount: 10,
    state: 'succeeded',
  })
  await put(`${first._id}b`, 1, {
    mode: 'test',
    provider_created_at: '2026-11-19T23:59:59.999Z',
    subject: `pi_b_${projectId}`,
    actor_id: `acr_${projectId}`,
    provider_ref: 're_b',
    amount: 20,
    state: 'failed',
  })
  const ended = { verdict: 'explained', reason: 'provider_ref_matches' } as const
  await put(`${first._id}c`, 2, {
    kind: 'cancellation',
    mode: null,
    provider_created_at: '2026-11-20T00:00:00.000Z',
    subject: 'sub_c',
    provider_ref: null,
    amount: null,
    currency: null,
    ...ended,
  })
  return { projectId, a: first._id, b: `${first._id}b`, c: `${first._id}c`, currency: first.currency }
}

export function describeFilters(testApi: () => TestApi): void {
  describe('the connected accounts of one connection', () => {
    /** Three actions, of which the first two are of one account, and an incident about the first. */
    async function storeAccounts() {
      const { projectId, a, b, c } = await storeActions(testApi())
      const [account, other] = [`acct_1_${projectId}`, `acct_2_${projectId}`]
      for (const [_id, of] of [a, b, c].map((id, index) => [id, index < 2 ? account : other] as const)) {
        await testApi().others.actions.change({ _id }, { account: of, verdict_bucket: 1_000 })
      }
      const { incident_id } = (await testApi().stores.actions.find({ _id: a })) as ActionDocument
      const _id = incident_id as string
      const opened = new Date('2026-11-20T01:00:00Z')
      await testApi().others.incidents.change({ _id }, { account, opened, acknowledged_at: '2026-11-20T01:01:00.000Z' })
      return { projectId, account, other, a, b, c, incident: _id }
    }
    const get = (path: string) => testApi().api.get(path)

    test('are apart in the lists of actions and incidents, and in their exports', async () => {
      const { projectId, account, other, a, b, c, incident } = await storeAccounts()
      const idsOf = async (path: string, id: string) =>
        (await get(path)).body.data.map((one: Record<string, string>) => one[id])
      expect(await idsOf(`/v1/actions?account=${account}`, 'action_id')).toEqual([b, a])
      expect(await idsOf(`/v1/actions?project_id=${projectId}&account=${other}`, 'action_id')).toEqual([c])
      expect(await idsOf(`/v1/actions?account=${account.slice(0, -1)}`, 'action_id')).toEqual([])
      expect(await idsOf(`/v1/incidents?account=${account}`, 'incident_id')).toEqual([incident])
      expect(await idsOf(`/v1/incidents?account=${other}`, 'incident_id')).toEqual([])
      expect((await get(`/v1/incidents/${incident}`)).body.account).toBe(account)
      for (const list of ['actions', 'incidents']) {
        const [head, ...lines] = (await get(`/v1/${list}?account=${account}&format=csv`)).body.split('\r\n')
        expect(head.split(',')).toContain('account')
        expect(lines[0]).toContain(account)
      }
    })

    test('are apart in stats', async () => {
      const { projectId, account, other } = await storeAccounts()
      const statsOf = async (query: string, to = '2026-12-01') =>
        (await get(`/v1/stats?project_id=${projectId}&from=2026-11-01&to=${to}&${query}`)).body
      expect(await statsOf(`account=${account}`)).toMatchObject({
        totals: [
          { kind: 'refund', mode: 'live', count: 1, not_carried_out: 0, amount: 10 },
          { kind: 'refund', mode: 'test', count: 1, not_carried_out: 1, amount: 0 },
        ],
        series: [{ at: '2026-11-18T00:00:00.000Z' }, { at: '2026-11-19T00:00:00.000Z' }],
        times: { verdict: { count: 2, median_ms: 1_050 }, acknowledgement: { count: 1 }, resolution: { count: 0 } },
        recount_pending: false,
      })
      expect((await statsOf(`account=${other}`)).totals).toMatchObject([{ kind: 'cancellation', count: 1, amount: 0 }])
      expect((await statsOf(`account=${account}`, '2026-11-19')).totals).toMatchObject([{ count: 1, mode: 'live' }])
      expect((await statsOf('account=acct_none')).totals).toEqual([])
    })
  })

  describe('a customer', () => {
    /** Three actions: two of the customer, and one of another customer whose payment has the id of the first. */
    async function storeCustomers() {
      const { projectId, a, b, c } = await storeActions(testApi())
      const id = `Cus_${projectId}`
      const put = async (_id: string, more: Partial<ActionDocument>) => {
        const changed = { ...((await testApi().others.actions.find({ _id })) as ActionDocument), ...more }
        await testApi().others.actions.put({ ...changed, search: searchKeysOfAction(changed) })
        return changed
      }
      const { incident_id } = await put(a, { customer: { id, name: 'Anna Kern', email: null } })
      await put(b, { customer: { id, name: null, email: null }, incident_id: null })
      await put(c, { customer: { id: id.toLowerCase(), name: null, email: null }, subject: id })
      return { projectId, id, a, b, c, incident_id }
    }
    const get = (path: string) => testApi().api.get(path)

    test('is a filter of actions, incidents and stats, by the exact id', async () => {
      const { projectId, id, a, b, c, incident_id } = await storeCustomers()
      const idsOf = async (list: string, customer: string, field: string) =>
        (await get(`/v1/${list}?project_id=${projectId}&customer_id=${customer}`)).body.data.map(
          (one: Record<string, string>) => one[field],
        )
      expect(await idsOf('actions', id, 'action_id')).toEqual([b, a])
      expect(await idsOf('actions', id.toLowerCase(), 'action_id')).toEqual([c])
      expect(await idsOf('actions', id.slice(0, -1), 'action_id')).toEqual([])
      expect(await idsOf('incidents', id, 'incident_id')).toEqual([incident_id])
      expect(await idsOf('incidents', 'cus_none', 'incident_id')).toEqual([])
      const period = `project_id=${projectId}&from=2026-11-01&to=2026-12-01`
      expect((await get(`/v1/stats?${period}&customer_id=${id}`)).body.totals).toMatchObject([
        { kind: 'refund', mode: 'live', count: 1, amount: 10 },
        { kind: 'refund', mode: 'test', count: 1, not_carried_out: 1, amount: 0 },
      ])
      expect((await get(`/v1/stats?${period}&actor_id=acr_${projectId}`)).body.totals).toMatchObject([
        { mode: 'test', count: 1 },
      ])
    })

    test('of another project is not found, and needs a project', async () => {
      const { id } = await storeCustomers()
      const { projectId } = await createTestProject(testApi().api)
      for (const list of ['actions', 'incidents']) {
        expect((await get(`/v1/${list}?project_id=${projectId}&customer_id=${id}`)).body.data).toEqual([])
      }
      for (const path of ['actions', 'incidents', 'stats']) {
        expect(await get(`/v1/${path}?customer_id=${id}`)).toMatchObject({
          status: 400,
          body: { errors: [{ path: 'query.project_id', message: 'Name the project of the customer' }] },
        })
      }
    })
  })

  describe('the list of actions', () => {
    test('is filtered by kind, verdict, reason, state, mode, subject, provider_ref, actor, amount, and the times of discovery and creation', async () => {
      const { projectId, a, b, c, currency } = await storeActions(testApi())
      const list = async (query: string) => {
        const { status, body } = await testApi().api.get(`/v1/actions?project_id=${projectId}&${query}`)
        expect({ query, status }).toEqual({ query, status: 200 })
        return body.data.map(({ action_id }: { action_id: string }) => action_id)
      }
      expect(await list('')).toEqual([c, b, a])
      expect(await list('kind=cancellation')).toEqual([c])
      expect(await list('verdict=explained')).toEqual([c])
      expect(await list('reason=provider_ref_matches')).toEqual([c])
      expect(await list('state=failed')).toEqual([b])
      expect(await list(`subject=pi_a_${projectId}`)).toEqual([a])
      expect(await list('provider_ref=re_b')).toEqual([b])
      expect(await list(`actor_id=acr_${projectId}`)).toEqual([b])
      expect(await list('min_amount=10&max_amount=10')).toEqual([a])
      expect(await list(`min_amount=11&currency=${String(currency).toUpperCase()}`)).toEqual([b])
      expect(await list('min_amount=0&currency=xxx')).toEqual([])
      expect(await list('from=2026-11-20T01:00:00Z&to=2026-11-20T02:00:00Z')).toEqual([b])
      expect(await list('kind=refund&state=failed&min_amount=20')).toEqual([b])
      expect(await list('mode=live')).toEqual([a])
      expect(await list('mode=test')).toEqual([b])
      expect(await list('made_from=2026-11-19T00:00:00Z')).toEqual([c, b])
      expect(await list('made_to=2026-11-20T00:00:00Z')).toEqual([b, a])
      expect(await list('made_from=2026-11-19T00:00:00Z&made_to=2026-11-20T00:00:00Z')).toEqual([b])
      // Also in another zone, and although it was seen a day and more after the provider made it.
      expect(await list('made_from=2026-11-18T02:00:00%2B02:00&made_to=2026-11-18T02:00:00.001%2B02:00')).toEqual([a])
      for (const query of ['kind=gift', 'min_amount=ten', 'min_amount=-1', 'from=yesterday']) {
        expect((await testApi().api.get(`/v1/actions?${query}`)).status).toBe(400)
      }
    })
  })

  describe('the list of operations', () => {
    test('is filtered by kind, state, subject, provider_ref, amount, currency and time', async () => {
      const { projectId, processorId } = await createTestProject(testApi().api)
      const report = async (fields: object) => {
        const { body } = await testApi().api.post('/v1/operations', { connection_id: processorId, ...fields })
        return body.operation_id as string
      }
      const refund = { kind: 'refund', currency: 'eur' }
      const a = await report({ ...refund, subject: 'pi_a', amount: 10, provider_ref: 're_a', state: 'completed' })
      const b = await report({ ...refund, subject: 'pi_b', amount: 20 })
      const c = await report({ kind: 'cancellation', subject: 'sub_c' })
      const list = async (query: string) => {
        const { status, body } = await testApi().api.get(`/v1/operations?project_id=${projectId}&${query}`)
        expect({ query, status }).toEqual({ query, status: 200 })
        return body.data.map(({ operation_id }: { operation_id: string }) => operation_id).toSorted()
      }
      expect(await list('kind=refund')).toEqual([a, b].toSorted())
      expect(await list('state=completed')).toEqual([a])
      expect(await list('subject=pi_b')).toEqual([b])
      expect(await list('provider_ref=re_a')).toEqual([a])
      expect(await list('min_amount=10&max_amount=10&currency=EUR')).toEqual([a])
      expect(await list('min_amount=11')).toEqual([b])
      expect(await list('currency=xxx')).toEqual([])
      expect(await list('from=2020-01-01T00:00:00Z')).toEqual([a, b, c].toSorted())
      expect(await list('to=2020-01-01T00:00:00Z')).toEqual([])
      expect((await testApi().api.get('/v1/operations?kind=gift')).status).toBe(400)
    })
  })

  describe('the list of deliveries', () => {
    test('is filtered by incident and event', async () => {
      const { projectId, processorId } = await createTestProject(testApi().api)
      const { incident, alertId, at } = await storeIncident(testApi(), projectId, processorId)
      await testApi().others.deliveries.put(deliveryDocument(projectId, alertId, at))
      const other = deliveryDocument(projectId, `alr_other_${projectId}`, at)
      await testApi().others.deliveries.put({ ...other, _id: `dlv_other_${projectId}`, event: 'run.failed' })
      const list = async (query: string) => {
        const { body } = await testApi().api.get(`/v1/deliveries?project_id=${projectId}&${query}`)
        return body.data.map(({ event }: { event: string }) => event)
      }
      expect(await list(`incident_id=${incident}`)).toEqual(['incident.opened'])
      expect(await list('event=run.failed')).toEqual(['run.failed'])
      expect((await testApi().api.get('/v1/deliveries?incident_id=inc_none')).status).toBe(404)
    })
  })

  describe('the list of incidents', () => {
    test('is filtered by code, time and actor', async () => {
      const { projectId, processorId } = await createTestProject(testApi().api)
      const { incident } = await storeIncident(testApi(), projectId, processorId)
      const list = async (query: string) => {
        const { body } = await testApi().api.get(`/v1/incidents?project_id=${projectId}&${query}`)
        return body.data.map(({ incident_id }: { incident_id: string }) => incident_id)
      }
      expect(await list('code=UNEXPECTED_ACTION&from=2020-01-01T00:00:00Z')).toEqual([incident])
      expect(await list('code=FEED_SILENT')).toEqual([])
      expect(await list(`actor_id=acr_${projectId}`)).toEqual([])
      await testApi().others.incidents.change({ _id: incident }, { actor_id: `acr_${projectId}` })
      expect(await list(`actor_id=acr_${projectId}`)).toEqual([incident])
      expect(await list('to=2020-01-01T00:00:00Z')).toEqual([])
    })
  })

  describe('the audit', () => {
    test('is filtered by key, action and time', async () => {
      const { projectId } = await createTestProject(testApi().api)
      const list = async (query: string) => {
        const { body } = await testApi().api.get(`/v1/audit?project_id=${projectId}&${query}`)
        return body.data.map(({ action }: { action: string }) => action)
      }
      expect(await list('action=connection.create')).toEqual(['connection.create'])
      expect(await list('key_id=key_bootstrap')).toEqual(['connection.create', 'project.create'])
      expect(await list('key_id=key_other')).toEqual([])
      expect(await list('to=2020-01-01T00:00:00Z')).toEqual([])
    })
  })
}
