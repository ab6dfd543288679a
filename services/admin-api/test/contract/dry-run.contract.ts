import { type ActionDocument, type LookedConnection, newId, type OutOfBand } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { storeIncident } from './incidents.contract.ts'
import { createTestKey, createTestProject } from './test-project.ts'

const DAY_MS = 86_400_000

/** Tests of /v1/projects/{id}/connections/{connection_id}/dry-run. */
export function describeDryRun(testApi: () => TestApi): void {
  const api = () => testApi().api

  async function openProject() {
    const { projectId, processorId } = await createTestProject(api())
    const looked = (out_of_band: OutOfBand, facts: Partial<LookedConnection> = {}): LookedConnection => ({
      ...{ connection_id: processorId, out_of_band, deleted: false, has_executed: false },
      ...facts,
    })
    /** Stores an action that a second look found unexplained. */
    async function store(look_connections: LookedConnection[] | undefined, more: Partial<ActionDocument> = {}) {
      const { action: id } = await storeIncident(testApi(), projectId, processorId)
      const stored = await testApi().others.actions.find({ _id: id })
      if (stored === undefined) throw new Error(`There is no action ${id}`)
      const look_done = new Date(testApi().now() - 60_000)
      const look = look_connections === undefined ? {} : { look_done, look_connections }
      await testApi().others.actions.put({ ...stored, ...look, ...more })
      return id
    }
    const path = `/v1/projects/${projectId}/connections/${processorId}/dry-run`
    const run = async (query: string) => (await api().get(`${path}?${query}`)).body
    const change = (patch: object) => api().patch(`/v1/projects/${projectId}/connections/${processorId}`, patch)
    return { projectId, processorId, looked, store, path, run, change }
  }

  describe('a dry run of a setting', () => {
    test('of the connection leaves accounts with their own setting, and can be of one account', async () => {
      const { looked, store, run, change } = await openProject()
      const [account, other] = [`acct_${newId('action')}`, `acct_${newId('action')}`]
      await change({ accounts: [{ account, out_of_band: 'ignore' }] })
      const ofAccount = await store([looked('ignore', { account })], { account })
      const ofOther = await store([looked('ignore')], { account: other })
      const alertsOf = async (query: string) => {
        const { actions } = await run(query)
        return actions.filter(({ would_alert }: { would_alert: boolean }) => would_alert).map(actionIdOf)
      }
      expect(await alertsOf('out_of_band=alert')).toEqual([ofOther])
      expect(await alertsOf(`out_of_band=alert&account=${account}`)).toEqual([ofAccount])
      expect(await run(`account=${account}`)).toMatchObject({ out_of_band: 'ignore', unexplained: 1 })
    })

    test.each([
      { tried: 'alert', alerts: ['alerted', 'ignored', 'auto', 'auto_executed'] },
      { tried: 'auto', alerts: ['auto_executed', 'ignored_executed_elsewhere'] },
      { tried: 'ignore', alerts: ['ignored_executed_elsewhere'] },
    ] as const)('$tried shows what alerted and what would have alerted', async ({ tried, alerts }) => {
      const { processorId, looked, store, run } = await openProject()
      const ids = {
        alerted: await store([looked('alert')]),
        ignored: await store([looked('ignore')]),
        auto: await store([looked('auto')]),
        auto_executed: await store([looked('auto', { has_executed: true })]),
        // The stricter setting of the second connection applies.
        ignored_executed_elsewhere: await store([
          looked('ignore'),
          { connection_id: 'con_second', out_of_band: 'auto', deleted: false, has_executed: true },
        ]),
        deleted: await store([looked('alert', { deleted: true })]),
      }
      const explained = await store(undefined, { verdict: 'explained', reason: 'provider_ref_matches' })
      const merged = await store([looked('alert')], { merged_into: newId('action') })
      const body = await run(`out_of_band=${tried}`)
      expect(body).toMatchObject({ connection_id: processorId, out_of_band: tried, unexplained: 6, is_complete: true })
      const idsWhere = (field: 'alerted' | 'would_alert') =>
        new Set(body.actions.filter((one: Record<string, unknown>) => one[field]).map(actionIdOf))
      expect(idsWhere('alerted')).toEqual(new Set([ids.alerted, ids.auto_executed, ids.ignored_executed_elsewhere]))
      const expected = tried === 'alert' ? [...alerts, 'ignored_executed_elsewhere' as const] : alerts
      expect(idsWhere('would_alert')).toEqual(new Set(expected.map(name => ids[name])))
      expect(body.actions.map(actionIdOf)).not.toContain(explained)
      expect(body.actions.map(actionIdOf)).not.toContain(merged)
    })

    test('sums money by currency, without refunds that moved none in the end', async () => {
      const { looked, store, run } = await openProject()
      await store([looked('alert')], { amount: 100, currency: 'eur' })
      await store([looked('alert')], { amount: 250, currency: 'eur' })
      await store([looked('alert')], { amount: 70, currency: 'eur', state: 'failed' })
      await store([looked('ignore')], { amount: 500, currency: 'jpy' })
      await store([looked('ignore')], { kind: 'cancellation', amount: null, currency: null })
      const { alerted, would_alert } = await run('out_of_band=alert')
      expect(alerted).toEqual({ count: 3, sums: [{ currency: 'eur', count: 2, amount: 350 }] })
      expect(would_alert).toEqual({
        count: 5,
        sums: [
          { currency: 'eur', count: 2, amount: 350 },
          { currency: 'jpy', count: 1, amount: 500 },
        ],
      })
    })

    test('counts second looks of the window, by default those of the last seven days', async () => {
      const { looked, store, run } = await openProject()
      const now = testApi().now()
      const at = (days: number) => new Date(now - days * DAY_MS)
      const recent = await store([looked('alert')], { look_done: at(6) })
      const older = await store([looked('alert')], { look_done: at(8) })
      expect((await run('out_of_band=ignore')).actions.map(actionIdOf)).toEqual([recent])
      const window = `from=${at(9).toISOString()}&to=${at(7).toISOString()}`
      expect((await run(`out_of_band=ignore&${window}`)).actions.map(actionIdOf)).toEqual([older])
      const upTo = `from=${at(8).toISOString()}&to=${at(6).toISOString()}`
      expect((await run(`out_of_band=ignore&${upTo}`)).actions.map(actionIdOf)).toEqual([older])
    })

    test.each([
      { name: 'of no hours', query: 'refunded_twice_within_hours=0', field: 'query.refunded_twice_within_hours' },
      {
        name: 'of more than 30 days between two refunds',
        query: 'refunded_twice_within_hours=721',
        field: 'query.refunded_twice_within_hours',
      },
      { name: 'of more than 31 days', query: 'out_of_band=auto&from=2026-01-01T00:00:00Z', field: 'query.from' },
      {
        name: 'of no time',
        query: 'out_of_band=auto&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
        field: 'query.from',
      },
    ])('$name is refused', async ({ query, field }) => {
      const { path } = await openProject()
      expect(await api().get(`${path}?${query}`)).toMatchObject({ status: 400, body: { errors: [{ path: field }] } })
    })

    test('refunded_twice_within_hours shows each second refund of an operation, also after a first one before the window', async () => {
      const { processorId, store, run, change } = await openProject()
      const now = testApi().now()
      const refund = (number: number, days: number, more: Partial<ActionDocument> = {}) =>
        store(undefined, {
          ...{ kind: 'refund', verdict: 'explained', reason: 'provider_ref_matches', state: 'succeeded' },
          ...{ subject: `pi_of_${processorId}`, amount: 700, currency: 'eur', connection_ids: [processorId] },
          ...{ provider_ref: `re_${number}`, operation_id: `op_${number}`, first_seen: new Date(now - days * DAY_MS) },
          provider_created_at: new Date(now - days * DAY_MS).toISOString(),
          ...more,
        })
      const first = await refund(1, 7.5)
      const second = await refund(2, 6.9)
      const third = await refund(3, 6.8)
      await refund(4, 6.7, { operation_id: 'op_3' })
      await refund(5, 6.6, { amount: 800 })
      await refund(6, 6.5, { state: 'failed' })
      await refund(7, 6.4, { verdict: 'unexplained', operation_id: null })
      const found = (await run('refunded_twice_within_hours=24')).refunded_twice
      expect(found).toMatchObject({
        within_hours: 24,
        would_alert: { count: 3, sums: [{ currency: 'eur', count: 3, amount: 2100 }] },
      })
      expect(found.refunds.slice(1)).toMatchObject([
        { action_id: third, operation_id: 'op_3', earlier: { action_id: second } },
        { action_id: second, operation_id: 'op_2', earlier: { action_id: first, provider_ref: 're_1' } },
      ])
      expect((await run('refunded_twice_within_hours=24&out_of_band=ignore')).refunded_twice.would_alert.count).toBe(0)
      expect((await run('out_of_band=alert')).refunded_twice).toBeNull()
      await change({ refunded_twice_within_hours: 3 })
      expect((await run('out_of_band=alert')).refunded_twice).toMatchObject({
        within_hours: 3,
        would_alert: { count: 1 },
      })
    })

    test('of another project is not found', async () => {
      const { path } = await openProject()
      const foreign = await createTestProject(api(), 'Foreign')
      const stranger = api().withKey(await createTestKey(api(), ['read'], foreign.projectId))
      expect((await stranger.get(`${path}?out_of_band=alert`)).status).toBe(404)
    })
  })
}

const actionIdOf = ({ action_id }: { action_id: string }) => action_id
