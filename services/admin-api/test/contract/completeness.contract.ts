import { verify } from 'node:crypto'
import { canonicalJson } from '@backstop/kit/audit'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { createTestKey, createTestProject } from './test-project.ts'

const FROM = '2026-07-01'
const TO = '2026-10-01'
const QUARTER = `from=${FROM}&to=${TO}`
const at = (time: string) => new Date(`2026-${time}Z`)

/** Tests of /v1/completeness. */
export function describeCompleteness(testApi: () => TestApi): void {
  const api = () => testApi().api

  /** A connection whose account was read and judged since the beginning of the quarter, but for one interruption. */
  async function storeQuarter() {
    const { projectId, processorId } = await createTestProject(api())
    const { others, stores } = testApi()
    const own = { project_id: projectId, connection_id: processorId }
    const connection = await stores.connections.find({ _id: processorId })
    if (connection === undefined) throw new Error('The connection is missing')
    await stores.connections.put({
      ...connection,
      created_at: at('01-01T00:00'),
      read_key: connection.inbound_secrets[0] ?? null,
    })
    const total = { verdict: 'explained', reason: 'provider_ref_matches', kind: 'refund', currency: 'eur' } as const
    await others.dailyTotals.put({
      ...{ ...own, _id: `${processorId}/2026-07-05`, day: new Date('2026-07-05'), marks: 1, counted: 1 },
      totals: [{ ...total, state: 'succeeded', mode: 'live', count: 3, amount: 4_200 }],
      times: { verdict: [], acknowledgement: [], resolution: [] },
      without_notification: 1,
    })
    const interruption = { from: at('07-05T01:00'), to: at('07-05T03:00'), cause: 'The provider did not answer.' }
    await others.sweepDays.put({
      ...{ ...own, _id: `${processorId}/2026-07-05`, day: new Date('2026-07-05'), recorded_from: at('01-01T00:00') },
      ...{ read_until: at('11-01T00:00'), completed: 280, objects: 12, interruptions: [interruption] },
    })
    return { projectId, processorId }
  }

  describe('completeness', () => {
    test('says what was read and judged, when the account was not read, and what cannot be known', async () => {
      const { projectId, processorId } = await storeQuarter()
      const { status, body } = await api().get(`/v1/completeness?connection_id=${processorId}&${QUARTER}`)
      expect(status).toBe(200)
      expect(body).toMatchObject({ project_id: projectId, from: `${FROM}T00:00:00.000Z`, connections_complete: true })
      expect(body.connections).toMatchObject([
        {
          ...{ connection_id: processorId, answer: 'complete', open: [], limits: ['connected_accounts'] },
          ...{ recorded: 3, judged: 3, found_by_reading: 1 },
          reading: { completed: 280, interruptions: [{ cause: 'The provider did not answer.' }] },
          lines: [{ category: 'made_by_our_software', count: 3, amount: 4_200 }],
        },
      ])
    })

    test('of a project has all its connections, and those of no other project', async () => {
      const { projectId, processorId } = await storeQuarter()
      const foreign = await createTestProject(api(), 'Foreign')
      const { body } = await api().get(`/v1/completeness?project_id=${projectId}&${QUARTER}`)
      expect(body.connections.map((one: { connection_id: string }) => one.connection_id)).toEqual([processorId])
      const stranger = api().withKey(await createTestKey(api(), ['read'], foreign.projectId))
      for (const path of ['/v1/completeness', '/v1/completeness/export']) {
        expect(await stranger.get(`${path}?project_id=${projectId}`)).toMatchObject({ status: 404 })
        expect(await stranger.get(`${path}?connection_id=${processorId}`)).toMatchObject({ status: 404 })
        const both = `project_id=${foreign.projectId}&connection_id=${processorId}`
        expect(await api().get(`${path}?${both}`)).toMatchObject({ status: 404 })
        expect(await api().get(path)).toMatchObject({ status: 400 })
        expect(await api().get(`${path}?project_id=${projectId}&from=${TO}&to=${FROM}`)).toMatchObject({ status: 400 })
      }
    })

    test('is exported in words, with a signature that no change survives', async () => {
      const { projectId, processorId } = await storeQuarter()
      const { headers, body } = await api().get(`/v1/completeness/export?project_id=${projectId}&${QUARTER}`)
      expect(headers.get('content-disposition')).toContain(`completeness-${projectId}-${FROM}.json`)
      const { statement, signature } = body
      expect(statement.period).toBe('1 July 2026 to 30 September 2026, in UTC')
      expect(statement.accounts).toMatchObject([
        {
          account: expect.stringContaining(`card processor (Stripe) (${processorId})`),
          answer: expect.stringMatching(/^Complete\. .* All 3 recorded changes are judged\.$/),
          interruptions: [expect.stringContaining('From 5 July 2026')],
          money: [
            { category: 'Made by our software', kind: 'refund', mode: 'real money', number: '3', sum: 'EUR 42.00' },
          ],
        },
      ])
      const { keys } = (await api().get('/v1/audit/public-keys')).body
      const isSigned = (stated: object) =>
        verify(null, Buffer.from(canonicalJson(stated)), keys[0].public_key, Buffer.from(signature, 'base64url'))
      expect(isSigned(statement)).toBe(true)
      expect(isSigned({ ...statement, period: '1 July 2026 to 31 December 2026, in UTC' })).toBe(false)
    })
  })
}
