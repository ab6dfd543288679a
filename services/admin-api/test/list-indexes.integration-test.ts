import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProjectResources } from './contract/every-route.ts'
import { type MongoTestApi, startMongoApi } from './mongo-test-api.ts'

let testApi: MongoTestApi
let projectId: string
let channelId: string
beforeAll(async () => {
  testApi = await startMongoApi()
  for (let i = 0; i < 3; i++) ({ projectId, channelId } = await createProjectResources(testApi))
})
afterAll(() => testApi.stop())

/** Returns the query of a list and all plans that MongoDB considers for it. */
async function explainList(path: string) {
  const since = testApi.asked.length
  expect((await testApi.api.get(path)).status).toBe(200)
  // Excludes the queries of the sweepers that run at the same time. A page queries 51 documents: the 50 shown and one more.
  const lists = testApi.asked.slice(since).filter(command => command.sort !== undefined && command.limit === 51)
  expect(lists).toHaveLength(1)
  const { find, filter, sort, limit } = lists[0] as Record<string, unknown>
  return { query: lists[0] ?? {}, plan: JSON.stringify(await testApi.explain({ find, filter, sort, limit })) }
}

/** Returns the names of the stages in MongoDB's plan for the query of a list. */
async function stagesOf(path: string): Promise<string[]> {
  return stagesIn((await explainList(path)).plan)
}

function stagesIn(plan: string): string[] {
  const winning = plan.slice(plan.indexOf('"winningPlan"'), plan.indexOf('"rejectedPlans"'))
  return [...winning.matchAll(/"stage":"(\w+)"/g)].map(([, stage]) => stage as string)
}

test('every list with any filter reads an index in its own order, without a sort and without a full scan', async () => {
  const listRoutes = testApi.app.routes.filter(
    // Dead letters are read from several collections: the next test.
    ({ operationId, path }) =>
      operationId.startsWith('list') && operationId !== 'listDeadLetters' && !path.includes('{'),
  )
  expect(listRoutes.length).toBeGreaterThan(9)
  const paths = listRoutes.flatMap(({ path, query }) => [
    path,
    ...('project_id' in query.shape ? [`${path}?project_id=${projectId}`] : []),
    ...('channel_id' in query.shape && path === '/v1/deliveries' ? [`${path}?channel_id=${channelId}`] : []),
  ])
  const faults: { path: string; stages: string[] }[] = []
  const filters = [
    ['deliveries', ['state=dead', 'alert_id=alr_1', 'test=true', 'from=2026-01-01T00:00:00Z', 'event=incident.opened']],
    [
      'operations',
      [
        'kind=refund',
        'state=completed',
        'subject=pi_1',
        'provider_ref=re_1',
        'min_amount=1&max_amount=9&currency=eur',
      ].concat(['from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z', 'connection_id=con_1&kind=refund']),
    ],
    [
      'actions',
      ['verdict=unexplained', 'reason=nothing_explains_it', 'kind=refund', 'state=succeeded', 'subject=pi_1'].concat([
        'provider_ref=re_1',
        'min_amount=1&max_amount=9&currency=eur',
        'from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z',
        'made_from=2026-01-01T00:00:00Z&made_to=2027-01-01T00:00:00Z&mode=live',
        'connection_id=con_1&verdict=unexplained&subject=pi_1',
        'account=acct_1',
      ]),
    ],
    [
      'incidents',
      ['code=UNEXPECTED_ACTION', 'state=open&from=2026-01-01T00:00:00Z', 'connection_id=con_1', 'account=acct_1'],
    ],
    ['audit', ['key_id=key_1', 'action=api_key.create', 'target=x&to=2027-01-01T00:00:00Z']],
  ] as const
  const filtered = filters.flatMap(([list, queries]) =>
    queries.flatMap(query => [`/v1/${list}?${query}`, `/v1/${list}?project_id=${projectId}&${query}`]),
  )
  // Only the index of searches has the customers, so their filter needs the project.
  filtered.push(`/v1/actions?project_id=${projectId}&customer_id=cus_1&connection_id=con_1`)
  for (const path of [...paths, ...filtered]) {
    const stages = await stagesOf(path)
    const isGood = stages.includes('IXSCAN') && !stages.includes('SORT') && !stages.includes('COLLSCAN')
    if (!isGood) faults.push({ path, stages })
  }
  expect(faults).toEqual([])
})

test('the list of dead letters reads an index of each of its collections, without a sort and without a full scan', async () => {
  const window = 'from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z'
  const faults: object[] = []
  for (const query of ['', 'kind=notification', 'kind=delivery', 'kind=operation', window]) {
    for (const project of ['', `&project_id=${projectId}`]) {
      const since = testApi.asked.length
      expect((await testApi.api.get(`/v1/dead-letters?${query}${project}`)).status).toBe(200)
      const lists = testApi.asked.slice(since).filter(command => command.sort !== undefined && command.limit === 51)
      expect(lists.length).toBeGreaterThan(0)
      for (const { find, filter, sort, limit } of lists) {
        const stages = stagesIn(JSON.stringify(await testApi.explain({ find, filter, sort, limit })))
        const isGood = stages.includes('IXSCAN') && !stages.includes('SORT') && !stages.includes('COLLSCAN')
        if (!isGood) faults.push({ query, find, stages })
      }
    }
  }
  expect(faults).toEqual([])
})

test.each(['', 'connection_id=con_1', 'project_id'])(
  'unexplained actions, which are few, have an index for lists with the filter "%s"',
  async filter => {
    const narrowed = filter === 'project_id' ? `project_id=${projectId}` : filter
    const { plan } = await explainList(`/v1/actions?verdict=unexplained&${narrowed}`)
    expect(plan).toMatch(/"indexName":"[a-z_1]*verdict_1_first_seen_-1__id_-1"/)
  },
)

test.each(['actions', 'incidents', 'deliveries', 'operations', 'audit'])(
  'the list of %s has a time limit in MongoDB',
  async list => {
    const { query } = await explainList(`/v1/${list}`)
    expect(query).toMatchObject({ maxTimeMS: 5_000 })
  },
)
