import type { Stats } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { createMemoryStores } from '../../../test/memory-stores.ts'
import type { RouteAnswer } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { BATCH_SIZE } from '../../store/collection.ts'
import { statsRoutes } from './stats.ts'

/** Every project exists. */
const projects = { find: async ({ _id }: { _id: string }) => ({ _id }) }

function bodyOf(answer: RouteAnswer | undefined): Stats {
  return JSON.parse(String(answer?.serialized))
}

test('stats count every day of every project, also of more than 100,000', async () => {
  const { dailyTotals } = createMemoryStores()
  const total = {
    verdict: 'explained',
    reason: 'provider_ref_matches',
    kind: 'refund',
    currency: 'eur',
    mode: 'live',
  } as const
  const dayOf = (project_id: string) => ({
    _id: `${project_id}/2026-11-01`,
    project_id,
    day: new Date('2026-11-01'),
    totals: [{ ...total, state: 'succeeded', count: 1, amount: 100 }],
    times: { verdict: [[60_000, 1]], acknowledgement: [], resolution: [] },
  })
  const projectTotals = {
    async *batches() {
      for (let read = 0; read < 100_000; read += BATCH_SIZE)
        yield Array.from({ length: BATCH_SIZE }, (_, index) => dayOf(`prj_${read + index}`))
      yield [dayOf('prj_last')]
    },
  }
  const parts = { stores: { projects, dailyTotals, projectTotals } } as unknown as AdminParts
  const route = statsRoutes(parts).find(({ operationId }) => operationId === 'getStats')
  const answer = await route?.handle({
    query: { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z', interval: 'day' },
    principal: { projectIds: null },
    now: new Date('2026-11-03'),
  } as never)
  expect(bodyOf(answer)).toMatchObject({
    totals: [{ verdict: 'explained', count: 100_001, amount: 10_000_100 }],
    series: [{ at: '2026-11-01T00:00:00.000Z', count: 100_001 }],
    times: { verdict: { count: 100_001, median_ms: 60_500 } },
  })
})

test('requests for the same stats at the same time are one read, and those of another project another', async () => {
  const { dailyTotals, projectTotals } = createMemoryStores()
  let reads = 0
  const counting = {
    ...projectTotals,
    batches: (...asked: Parameters<typeof projectTotals.batches>) => {
      reads++
      return projectTotals.batches(...asked)
    },
  }
  const parts = { stores: { projects, dailyTotals, projectTotals: counting } } as unknown as AdminParts
  const route = statsRoutes(parts).find(({ operationId }) => operationId === 'getStats')
  const ask = (projectId: string) =>
    route?.handle({
      query: { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z', interval: 'day' },
      principal: { projectIds: [projectId] },
      now: new Date('2026-11-03'),
    } as never)
  const answers = await Promise.all([ask('prj_1'), ask('prj_1'), ask('prj_1')])
  expect(reads).toBe(1)
  expect(bodyOf(answers[1])).toEqual(bodyOf(answers[0]))
  await ask('prj_2')
  expect(reads).toBe(2)
})

test('a summary of one to two seconds is answered at once and read again for the next request, an older one is waited for', async () => {
  const { dailyTotals, projectTotals } = createMemoryStores()
  let nowMs = 1_000
  let reads = 0
  let gate = Promise.resolve()
  const slow = {
    ...projectTotals,
    batches: async function* (...asked: Parameters<typeof projectTotals.batches>) {
      reads++
      await gate
      yield* projectTotals.batches(...asked)
    },
  }
  const parts = { stores: { projects, dailyTotals, projectTotals: slow } } as unknown as AdminParts
  const routes = statsRoutes(parts, { now: () => nowMs })
  const route = routes.find(({ operationId }) => operationId === 'getStats')
  const ask = async () => {
    const query = { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z', interval: 'day' }
    const answer = await route?.handle({ query, principal: { projectIds: ['prj_1'] }, now: new Date(0) } as never)
    return bodyOf(answer).totals.length
  }
  const day = { _id: 'prj_1/2026-11-01', project_id: 'prj_1', day: new Date('2026-11-01'), version: 1 }
  const times = { verdict: [], acknowledgement: [], resolution: [] }
  const total = { verdict: 'explained', reason: 'provider_ref_matches', kind: 'refund', currency: 'eur' } as const
  expect(await ask()).toBe(0)
  await projectTotals.put({
    ...day,
    totals: [{ ...total, mode: 'live', state: 'succeeded', count: 1, amount: 1 }],
    times,
  })
  nowMs += 900
  expect([await ask(), reads]).toEqual([0, 1])
  let open = () => {}
  gate = new Promise(resolve => {
    open = resolve
  })
  nowMs += 200
  expect([await ask(), await ask()]).toEqual([0, 0])
  await expect.poll(() => reads).toBe(2)
  open()
  await expect.poll(ask).toBe(1)
  expect(reads).toBe(2)
  nowMs += 2_100
  await projectTotals.put({ ...day, totals: [], times })
  expect([await ask(), reads]).toEqual([0, 3])
})

test('keeps at most 500 summaries, however many are asked for', async () => {
  const { dailyTotals, projectTotals } = createMemoryStores()
  let reads = 0
  const counting = {
    ...projectTotals,
    batches: (...asked: Parameters<typeof projectTotals.batches>) => {
      reads++
      return projectTotals.batches(...asked)
    },
  }
  const parts = { stores: { projects, dailyTotals, projectTotals: counting } } as unknown as AdminParts
  // The time stands still, so no summary is too old.
  const [route] = statsRoutes(parts, { now: () => 1_000 })
  const ask = (projectId: string) =>
    route?.handle({
      query: { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z', interval: 'day' },
      principal: { projectIds: [projectId] },
      now: new Date('2026-11-03'),
    } as never)
  for (let index = 0; index < 501; index++) await ask(`prj_${index}`)
  expect(reads).toBe(501)
  await ask('prj_500')
  expect(reads).toBe(501)
  await ask('prj_0')
  expect(reads).toBe(502)
})

test('reads the actors of a statement only if the answer has them, and no further days once the caller disconnected', async () => {
  const { actors, connections, dailyTotals, projectTotals } = createMemoryStores()
  const read: string[] = []
  const watched = {
    ...dailyTotals,
    async *batches(_where: unknown, fields: readonly string[]) {
      for (let batch = 0; batch < 3; batch++) {
        read.push(...fields)
        yield [{ _id: 'con_1/2026-11-01', actors: [] }]
      }
    },
  }
  const stores = { actors, connections, projects, dailyTotals: watched, projectTotals }
  const routes = statsRoutes({ stores } as unknown as AdminParts)
  const route = routes.find(({ operationId }) => operationId === 'getStatement')
  const ask = (format: 'csv' | 'json', by: 'category' | 'actor') =>
    route?.handle({
      query: { project_id: 'prj_1', month: '2026-11', format, by },
      principal: { projectIds: ['prj_1'] },
      signal: AbortSignal.abort(),
    } as never)
  expect(await ask('csv', 'category')).toMatchObject({ status: 200 })
  expect(read).toEqual([])
  await expect(ask('csv', 'actor')).rejects.toMatchObject({ code: 'unavailable' })
  await expect(ask('json', 'category')).rejects.toMatchObject({ code: 'unavailable' })
  expect(read).toEqual(['actors', 'actors'])
})
