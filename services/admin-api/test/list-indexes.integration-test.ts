import { COLLECTIONS, type CollectionDefinition, type CollectionName } from '@backstop/contracts'
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

test('every list with any filter reads an index, in its own order unless few documents match, and never all documents', async () => {
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
    [
      'inbox',
      ['outcome=recorded', 'connection_id=con_1', 'connection_id=con_1&outcome=recorded', 'replay_id=rpl_1'].concat(
        ['held', 'parked'].map(outcome => `connection_id=con_1&outcome=${outcome}`),
      ),
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
    // One subject or reference has few actions and operations.
    const maySort = /[?&](subject|provider_ref)=/.test(path)
    const isGood = stages.includes('IXSCAN') && (maySort || !stages.includes('SORT')) && !stages.includes('COLLSCAN')
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

test.each(['held', 'parked'])(
  '%s notifications, which are few, have an index for lists of a connection',
  async outcome => {
    const { plan } = await explainList(`/v1/inbox?connection_id=con_1&outcome=${outcome}`)
    expect(plan).toContain('"indexName":"few_of_connection"')
  },
)

test.each(['actions', 'incidents', 'deliveries', 'operations', 'audit'])(
  'the list of %s has a time limit in MongoDB',
  async list => {
    const { query } = await explainList(`/v1/${list}`)
    expect(query).toMatchObject({ maxTimeMS: 5_000 })
  },
)

/** An index that has only the documents whose `field` has a type. MongoDB uses it for a value of this type only if the query names the type, too. */
interface TypedIndex {
  readonly field: string
  readonly name: string
}

function typedIndexesOf(collection: CollectionName): TypedIndex[] {
  const { indexes }: CollectionDefinition = COLLECTIONS[collection]
  return indexes.flatMap(({ keys, options: { name, partialFilterExpression: documents = {} } = {} }) => {
    const [[field, condition] = ['', null]] = Object.entries(documents)
    const isTyped = typeof condition === 'object' && condition !== null && '$type' in condition
    return isTyped ? [{ field, name: name ?? Object.entries(keys).flat().join('_') }] : []
  })
}

test('MongoDB considers the index of each field that only some documents have, if a query names the field', async () => {
  const { api } = testApi
  const { connectionId } = await createProjectResources(testApi)
  const since = testApi.asked.length
  const report = { connection_id: connectionId, kind: 'refund', subject: 'pi_1', idempotency_key: 'k1' }
  await api.post('/v1/operations', report)
  await api.post('/v1/operations', report)
  const lists = [
    'actions?provider_ref=re_1',
    'actions?actor_id=act_1',
    'actions?account=acct_1',
    'incidents?actor_id=a',
  ]
  lists.push(
    'incidents?account=acct_1',
    'operations?provider_ref=re_1',
    'operations?run_id=run_1',
    'inbox?replay_id=rpl_1',
    'runs/run_1',
    'audit/verify',
  )
  for (const path of lists) await api.get(`/v1/${path}`)
  const faults: object[] = []
  const considered = new Set<string>()
  for (const command of testApi.asked.slice(since)) {
    const collection = (command.find ?? command.distinct) as CollectionName | undefined
    if (collection === undefined || !(collection in COLLECTIONS)) continue
    const conditions = JSON.stringify(command.filter ?? command.query)
    const wanted = typedIndexesOf(collection).filter(({ field }) => conditions.includes(`"${field}":`))
    const { find, filter, sort, distinct, key, query } = command
    const asked = distinct === undefined ? { find, filter, ...(sort && { sort }) } : { distinct, key, query }
    const plan = wanted.length === 0 ? '' : JSON.stringify(await testApi.explain(asked))
    for (const { name } of wanted) {
      if (plan.includes(`"indexName":"${name}"`)) considered.add(`${collection} ${name}`)
      else faults.push({ collection, conditions, name })
    }
  }
  expect(faults).toEqual([])
  expect([...considered].toSorted()).toEqual([
    'actions account_1_first_seen_-1__id_-1',
    'actions actor_id_1_first_seen_-1__id_-1',
    'actions provider_ref_1',
    'audit sequence_1',
    'inbox replayed',
    'incidents account_1_opened_-1__id_-1',
    'incidents actor_id_1_opened_-1__id_-1',
    'operations connection_id_1_idempotency_key_1',
    'operations provider_ref_1',
    'operations run_id_1_created_at_-1__id_-1',
  ])
})
