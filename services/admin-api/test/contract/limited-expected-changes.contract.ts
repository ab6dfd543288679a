import { type ExpectedChangeUsesDocument, periodOf, usesIdOf } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { storeIncident } from './incidents.contract.ts'
import { createTestProject } from './test-project.ts'

const DAY_S = 86_400
const DAY_MS = DAY_S * 1_000

/** Expected changes of one customer, and those whose limits apply to each week. */
export function describeLimitedExpectedChanges(testApi: () => TestApi): void {
  const api = () => testApi().api

  async function newBody() {
    const { projectId: project_id, processorId: connection_id } = await createTestProject(api())
    return { project_id, connection_id, kind: 'refund', note: 'Goodwill by the support tool' }
  }
  const putUses = async (uses: Partial<ExpectedChangeUsesDocument> & { _id: string; project_id: string }) =>
    testApi().others.expectedChangeUses.put({ version: 1, uses: [], expires_at: new Date(0), ...uses })

  describe('an expected change with a limit for each week', () => {
    const WEEKLY = { interval: 'week', max_amount: 500_00, currency: 'eur', expires_in_seconds: 120 * DAY_S }

    test('lasts for months, is shown with its limits, and 0.2.0 does not find it', async () => {
      const body = { ...(await newBody()), ...WEEKLY, customer_id: 'cus_1', actor_id: 'acr_1', subject: 'pi_1' }
      const made = await api().post('/v1/expected-changes', body)
      expect(made).toMatchObject({
        status: 201,
        body: {
          subject: 'pi_1',
          customer_id: 'cus_1',
          actor_id: 'acr_1',
          interval: 'week',
          max_changes: 1_000,
          max_amount: 500_00,
        },
      })
      const _id: string = made.body.expected_change_id
      expect(await testApi().stores.expectedChanges.find({ _id })).toMatchObject({
        // 0.2.0 looks for null and for the ids of a case, which are never empty.
        subject: '',
        limits: { subject: 'pi_1', customer_id: 'cus_1', actor_id: 'acr_1', interval: 'week' },
      })
    })

    test('shows what it covers in the current week, and lists every use with its week', async () => {
      const body = { ...(await newBody()), ...WEEKLY }
      const { expected_change_id: id } = (await api().post('/v1/expected-changes', body)).body
      const { action } = await storeIncident(testApi(), body.project_id, body.connection_id)
      const now = testApi().now()
      const limits = { interval: 'week' as const }
      const weekAt = (at: number, ...names: string[]) =>
        putUses({
          _id: usesIdOf({ _id: id, limits }, at),
          project_id: body.project_id,
          uses: names.map((action_id, index) => ({ action_id, amount: 100 * (index + 1) })),
        })
      await weekAt(now, 'act_3', action)
      await weekAt(now - 7 * DAY_MS, 'act_2', 'act_1')
      await putUses({ _id: `${id.slice(0, -1)}_/2026-11-23`, project_id: body.project_id })
      const path = `/v1/expected-changes/${id}`
      expect((await api().get(path)).body).toMatchObject({ changes_covered: 2, amount_covered: 300 })
      const [week, before] = [now, now - 7 * DAY_MS].map(at => periodOf('week', at).firstDay)
      const uses = (await api().get(`${path}/uses`)).body
      expect(uses).toMatchObject({ next_cursor: null })
      const unlisted = { currency: null, subject: null, provider_ref: null, provider_created_at: null }
      const listed = { currency: 'eur', subject: 'pi_1', provider_ref: 're_1', provider_created_at: expect.any(String) }
      const inWeek = [
        { action_id: 'act_3', period_start: week, amount: 100, ...unlisted },
        { action_id: action, period_start: week, amount: 200, ...listed },
      ]
      expect(uses.data).toEqual([
        ...inWeek.sort((a, b) => (a.action_id < b.action_id ? -1 : 1)),
        { action_id: 'act_1', period_start: before, amount: 200, ...unlisted },
        { action_id: 'act_2', period_start: before, amount: 100, ...unlisted },
      ])
      const paged: unknown[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await api().get(
          `${path}/uses?limit=1${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        )
        paged.push(...page.body.data)
        cursor = page.body.next_cursor
      }
      expect(paged).toEqual(uses.data)
    })

    test('of a deleted expected change are still listed, and those of another project are not', async () => {
      const body = await newBody()
      const { expected_change_id: id } = (await api().post('/v1/expected-changes', body)).body
      await putUses({ _id: id, project_id: body.project_id, uses: [{ action_id: 'act_1', amount: 5 }] })
      expect((await api().delete(`/v1/expected-changes/${id}`)).status).toBe(204)
      const listed = await api().get(`/v1/expected-changes/${id}/uses`)
      expect(listed.body.data).toMatchObject([{ action_id: 'act_1', period_start: null, amount: 5 }])
      const other = await createTestProject(api(), 'Other')
      const key = await api().post('/v1/api-keys', { name: 'k', scopes: ['read'], project_id: other.projectId })
      expect((await api().withKey(key.body.key).get(`/v1/expected-changes/${id}/uses`)).status).toBe(404)
    })

    test.each([
      ['an interval without a limit', { interval: 'week' }, 'interval'],
      ['more than 30 days without an interval', { expires_in_seconds: 31 * DAY_S }, 'expires_in_seconds'],
      ['more than a year', { ...WEEKLY, expires_in_seconds: 367 * DAY_S }, 'expires_in_seconds'],
      ['a customer id that contains an e-mail address', { customer_id: 'ann@example.com' }, 'customer_id'],
      ['a customer without a connection', { customer_id: 'cus_1', connection_id: undefined }, 'customer_id'],
    ])('is refused with %s', async (_, more, field) => {
      const answer = await api().post('/v1/expected-changes', { ...(await newBody()), ...more })
      expect(answer.status).toBe(400)
      expect(JSON.stringify(answer.body)).toContain(`body.${field}`)
    })
  })
}
