import type { DailyTotal, DailyTotalsDocument } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { createTestKey, createTestProject } from './test-project.ts'

const TOTAL: DailyTotal = {
  verdict: 'explained',
  reason: 'provider_ref_matches',
  kind: 'refund',
  currency: 'eur',
  state: 'succeeded',
  mode: 'live',
  count: 1,
  amount: 100,
}
const expected = { ...TOTAL, reason: 'expected_change_matches' } as const
const unexplained = { ...TOTAL, verdict: 'unexplained', reason: 'nothing_explains_it' } as const
const pending = { ...TOTAL, verdict: 'pending', reason: 'awaiting_second_look', currency: 'jpy', amount: 700 } as const
const failed = { ...unexplained, state: 'failed', amount: 50 } as const
const testMoney = { ...unexplained, mode: 'test', amount: 900 } as const
const cancelled = { ...unexplained, kind: 'cancellation', currency: null, amount: 0 } as const
const exempt = { ...cancelled, verdict: 'not_alerted', reason: 'involuntary_end' } as const

/** Tests of /v1/stats and /v1/statements. */
export function describeStats(testApi: () => TestApi): void {
  const api = () => testApi().api

  async function storeDay(
    projectId: string,
    connectionId: string,
    day: string,
    totals: DailyTotal[],
    more: Partial<DailyTotalsDocument> = {},
  ) {
    await testApi().others.dailyTotals.put({
      _id: `${connectionId}/${day}`,
      project_id: projectId,
      connection_id: connectionId,
      day: new Date(day),
      marks: 1,
      counted: 1,
      totals,
      times: { verdict: [], acknowledgement: [], resolution: [] },
      ...more,
    })
  }

  async function storeProjectDay(
    projectId: string,
    day: string,
    totals: DailyTotal[],
    times: DailyTotalsDocument['times'] = { verdict: [], acknowledgement: [], resolution: [] },
  ) {
    const date = new Date(day)
    await testApi().others.projectTotals.put({
      ...{ _id: `${projectId}/${day}`, project_id: projectId, day: date, version: 1, totals, times },
    })
  }

  describe('stats', () => {
    test('sum the days of a period by verdict, kind, currency and mode, in total and for each interval', async () => {
      const { projectId, processorId } = await createTestProject(api())
      await storeDay(projectId, processorId, '2026-10-31', [{ ...TOTAL, amount: 7 }])
      await storeDay(projectId, processorId, '2026-11-01', [TOTAL, expected, unexplained])
      await storeDay(projectId, processorId, '2026-11-02', [{ ...TOTAL, count: 2 }, pending, failed, testMoney])
      await storeDay(projectId, processorId, '2026-11-30', [{ ...TOTAL, amount: 13 }])
      await storeProjectDay(projectId, '2026-10-31', [{ ...TOTAL, amount: 7 }])
      await storeProjectDay(projectId, '2026-11-01', [TOTAL, expected, unexplained])
      await storeProjectDay(projectId, '2026-11-02', [{ ...TOTAL, count: 3, amount: 111 }, pending, failed, testMoney])
      await storeProjectDay(projectId, '2026-11-30', [{ ...TOTAL, amount: 13 }])
      const { body } = await api().get(`/v1/stats?project_id=${projectId}&from=2026-11-01&to=2026-11-30`)
      expect(body).toMatchObject({ from: '2026-11-01T00:00:00.000Z', to: '2026-11-30T00:00:00.000Z', interval: 'day' })
      const total = (verdict: string, currency: string, count: number, amount: number, at?: string) => ({
        ...(at === undefined ? {} : { at: `${at}T00:00:00.000Z` }),
        ...{ verdict, kind: 'refund', currency, mode: 'live', count, not_carried_out: 0, amount },
      })
      const isTest = { mode: 'test' }
      const isFailed = { not_carried_out: 1 }
      expect(body.totals).toEqual([
        total('explained', 'eur', 5, 311),
        total('pending', 'jpy', 1, 700),
        { ...total('unexplained', 'eur', 2, 100), ...isFailed },
        { ...total('unexplained', 'eur', 1, 900), ...isTest },
      ])
      expect(body.series).toEqual([
        total('explained', 'eur', 2, 200, '2026-11-01'),
        total('unexplained', 'eur', 1, 100, '2026-11-01'),
        total('explained', 'eur', 3, 111, '2026-11-02'),
        total('pending', 'jpy', 1, 700, '2026-11-02'),
        { ...total('unexplained', 'eur', 1, 0, '2026-11-02'), ...isFailed },
        { ...total('unexplained', 'eur', 1, 900, '2026-11-02'), ...isTest },
      ])
      const path = `/v1/stats?connection_id=${processorId}&from=2026-10-31T23:59:00Z&to=2026-11-30T00:00:01Z`
      const monthly = (await api().get(`${path}&interval=month`)).body.series
      expect(monthly.filter(({ verdict }: DailyTotal) => verdict === 'explained')).toEqual([
        total('explained', 'eur', 1, 7, '2026-10-01'),
        total('explained', 'eur', 5, 313, '2026-11-01'),
      ])
      const weekly = (await api().get(`${path}&interval=week`)).body.series
      // 1 November 2026 is a Sunday.
      expect([...new Set(weekly.map(({ at }: { at: string }) => at.slice(0, 10)))]).toEqual([
        '2026-10-26',
        '2026-11-02',
        '2026-11-30',
      ])
    })

    test('have the median times of all days, and say that a day waits for its count', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const resolution: DailyTotalsDocument['times']['resolution'] = [[60_000, 3]]
      const times = { verdict: [[60_000, 2]] as [number, number][], acknowledgement: [], resolution }
      await storeDay(projectId, processorId, '2026-11-01', [], { times })
      await storeProjectDay(projectId, '2026-11-01', [], times)
      const path = `/v1/stats?project_id=${projectId}&from=2026-11-01&to=2026-11-03`
      // By another interval, because the same stats may be a second old.
      expect((await api().get(`${path}&interval=month`)).body.recount_pending).toBe(false)
      const later = { ...times, verdict: [[120_000, 3]] as [number, number][] }
      await storeDay(projectId, processorId, '2026-11-02', [], { times: later, count_at: new Date() })
      await storeProjectDay(projectId, '2026-11-02', [], later)
      for (const params of [`project_id=${projectId}`, `connection_id=${processorId}`]) {
        const { body } = await api().get(`/v1/stats?${params}&from=2026-11-01&to=2026-11-03`)
        expect(body.recount_pending).toBe(true)
        expect(body.times).toEqual({
          verdict: { count: 5, median_ms: 125_000 },
          acknowledgement: { count: 0, median_ms: null },
          resolution: { count: 6, median_ms: 60_500 },
        })
      }
    })

    test.each([
      { name: 'no day', query: 'from=2026-11-02&to=2026-11-02', field: 'query.to' },
      { name: 'more than 400 days', query: 'from=2024-01-01&to=2026-11-02', field: 'query.from' },
      { name: 'a time that is none', query: 'from=yesterday', field: 'query.from' },
    ])('of a period with $name are refused', async ({ query, field }) => {
      const answer = await api().get(`/v1/stats?${query}`)
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: field }] } })
    })

    test('of a connection or project that does not exist are refused', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const other = await createTestProject(api(), 'Other')
      const foreign = `project_id=${other.projectId}&connection_id=${processorId}`
      for (const query of ['connection_id=con_none', 'project_id=prj_none', foreign])
        expect((await api().get(`/v1/stats?${query}`)).status).toBe(404)
      expect((await api().get(`/v1/stats?project_id=${projectId}&connection_id=${processorId}`)).status).toBe(200)
      expect((await api().get(`/v1/stats?connection_id=${'a'.repeat(256)}`)).status).toBe(400)
    })

    test('of another project are not shown', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const today = new Date(testApi().now()).toISOString().slice(0, 10)
      await storeDay(projectId, processorId, today, [TOTAL])
      const foreign = await createTestProject(api(), 'Foreign')
      const stranger = api().withKey(await createTestKey(api(), ['read'], foreign.projectId))
      expect((await stranger.get(`/v1/stats?connection_id=${processorId}`)).status).toBe(404)
      expect((await api().get(`/v1/stats?connection_id=${processorId}`)).body.totals).toHaveLength(1)
    })
  })

  describe('a statement', () => {
    test('has a line for each category, kind, currency and mode of the month in UTC, as JSON and as CSV', async () => {
      const { projectId, processorId } = await createTestProject(api())
      await storeDay(projectId, processorId, '2026-10-31', [TOTAL])
      await storeDay(projectId, processorId, '2026-11-01', [TOTAL, expected, unexplained, failed, cancelled, testMoney])
      await storeDay(projectId, processorId, '2026-11-30', [{ ...TOTAL, amount: 11 }, pending, exempt])
      await storeDay(projectId, processorId, '2026-12-01', [TOTAL])
      const path = `/v1/statements?connection_id=${processorId}&month=2026-11`
      const { body } = await api().get(path)
      const line = (category: string, kind: string, currency: string | null, count: number, amount: number) => ({
        ...{ category, kind, currency, mode: 'live', count, amount },
      })
      expect(body).toEqual({
        project_id: projectId,
        connection_id: processorId,
        actors: [],
        actors_complete: true,
        month: '2026-11',
        from: '2026-11-01T00:00:00.000Z',
        to: '2026-12-01T00:00:00.000Z',
        recount_pending: false,
        lines: [
          line('expected', 'refund', 'eur', 1, 100),
          line('made_by_our_software', 'refund', 'eur', 2, 111),
          line('not_carried_out', 'refund', 'eur', 1, 50),
          line('other', 'cancellation', null, 1, 0),
          line('pending', 'refund', 'jpy', 1, 700),
          line('unexplained', 'cancellation', null, 1, 0),
          line('unexplained', 'refund', 'eur', 1, 100),
          { ...line('unexplained', 'refund', 'eur', 1, 900), mode: 'test' },
        ],
      })
      const csv = await api().get(`${path}&format=csv`)
      expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      expect(csv.headers.get('content-disposition')).toContain(`statement-${processorId}-2026-11.csv`)
      const id = processorId
      expect(csv.body.split('\r\n')).toEqual([
        'connection_id,month_utc,category,kind,currency,mode,count,amount,amount_minor_units,recount_pending',
        `${id},2026-11,expected,refund,eur,live,1,1.00,100,false`,
        `${id},2026-11,made_by_our_software,refund,eur,live,2,1.11,111,false`,
        `${id},2026-11,not_carried_out,refund,eur,live,1,0.50,50,false`,
        `${id},2026-11,other,cancellation,,live,1,,,false`,
        `${id},2026-11,pending,refund,jpy,live,1,700,700,false`,
        `${id},2026-11,unexplained,cancellation,,live,1,,,false`,
        `${id},2026-11,unexplained,refund,eur,live,1,1.00,100,false`,
        `${id},2026-11,unexplained,refund,eur,test,1,9.00,900,false`,
        '',
      ])
    })

    test('says in each line of the CSV that a day waits for its count, also before the first count', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const rowsOf = async (by = 'category') => {
        const { body } = await api().get(
          `/v1/statements?connection_id=${processorId}&month=2026-11&format=csv&by=${by}`,
        )
        return body.split('\r\n').slice(1)
      }
      expect(await rowsOf()).toEqual([''])
      await storeDay(projectId, processorId, '2026-11-02', [], { count_at: new Date() })
      expect(await rowsOf()).toEqual([`${processorId},2026-11,,,,,0,,,true`, ''])
      expect(await rowsOf('actor')).toEqual([`${processorId},2026-11,,,,,,0,,,true,true`, ''])
      await storeDay(projectId, processorId, '2026-11-01', [TOTAL])
      expect(await rowsOf()).toEqual([
        `${processorId},2026-11,made_by_our_software,refund,eur,live,1,1.00,100,true`,
        '',
      ])
    })

    test('of a project sums all its connections, and names no connection in its CSV', async () => {
      const { projectId, processorId } = await createTestProject(api())
      await storeProjectDay(projectId, '2026-10-31', [TOTAL])
      await storeProjectDay(projectId, '2026-11-01', [TOTAL, expected])
      await storeProjectDay(projectId, '2026-11-30', [{ ...TOTAL, amount: 11 }])
      const path = `/v1/statements?project_id=${projectId}&month=2026-11`
      const { body } = await api().get(path)
      expect(body).toMatchObject({ project_id: projectId, connection_id: null, recount_pending: false })
      expect(body.lines).toEqual([
        { category: 'expected', kind: 'refund', currency: 'eur', mode: 'live', count: 1, amount: 100 },
        { category: 'made_by_our_software', kind: 'refund', currency: 'eur', mode: 'live', count: 2, amount: 111 },
      ])
      const csv = await api().get(`${path}&format=csv`)
      expect(csv.headers.get('content-disposition')).toContain(`statement-${projectId}-2026-11.csv`)
      expect(csv.body.split('\r\n')[1]).toBe(',2026-11,expected,refund,eur,live,1,1.00,100,false')
      await storeDay(projectId, processorId, '2026-11-02', [], { count_at: new Date() })
      expect(await api().get(path)).toMatchObject({ body: { recount_pending: true } })
    })

    test('may be about a quarter, whose CSV names its days, and about nothing without a period or with two', async () => {
      const { projectId, processorId } = await createTestProject(api())
      await storeDay(projectId, processorId, '2026-07-01', [TOTAL])
      await storeDay(projectId, processorId, '2026-09-30', [TOTAL])
      await storeDay(projectId, processorId, '2026-10-01', [TOTAL])
      const path = `/v1/statements?connection_id=${processorId}`
      const quarter = 'from=2026-07-01&to=2026-10-01'
      const { body } = await api().get(`${path}&${quarter}`)
      expect(body).toMatchObject({
        month: '2026-07-01/2026-10-01',
        from: '2026-07-01T00:00:00.000Z',
        lines: [{ count: 2 }],
      })
      const csv = await api().get(`${path}&${quarter}&format=csv`)
      expect(csv.headers.get('content-disposition')).toContain(`${processorId}-2026-07-01_2026-10-01.csv`)
      expect(csv.body.split('\r\n')[1]).toContain(`${processorId},2026-07-01/2026-10-01,made_by_our_software`)
      for (const period of ['', '&from=2026-07-01', `&month=2026-07&${quarter}`, '&from=2026-10-01&to=2026-07-01']) {
        expect(await api().get(`${path}${period}`)).toMatchObject({ status: 400 })
      }
    })

    test('needs either a connection or a project', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const month = 'month=2026-11'
      expect(await api().get(`/v1/statements?${month}`)).toMatchObject({ status: 400 })
      const both = `/v1/statements?${month}&project_id=${projectId}&connection_id=${processorId}`
      expect(await api().get(both)).toMatchObject({ status: 400 })
    })

    test('of a connection of another project is not found, nor of that project', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const foreign = await createTestProject(api(), 'Foreign')
      const stranger = api().withKey(await createTestKey(api(), ['read'], foreign.projectId))
      const path = `/v1/statements?connection_id=${processorId}&month=2026-11`
      expect(await stranger.get(path)).toMatchObject({ status: 404 })
      expect(await stranger.get(`/v1/statements?project_id=${projectId}&month=2026-11`)).toMatchObject({ status: 404 })
      expect(await api().get(path.replace('2026-11', '2026-13'))).toMatchObject({ status: 400 })
    })
  })
}
