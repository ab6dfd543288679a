import {
  type ActionDocument,
  monthMark,
  monthMarks,
  newId,
  type Operation,
  type OperationDocument,
  searchKeysOfAction,
  searchKeysOfOperation,
  textOfKey,
} from '@backstop/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createListCursors } from '../src/http/cursor.ts'
import { SearchCursor } from '../src/resources/search/search.ts'
import { foundKey, type SearchPosition } from '../src/store/search-index.ts'
import { storeStorm } from './contract/incidents.contract.ts'
import { createTestProject } from './contract/test-project.ts'
import { type MongoTestApi, startMongoApi } from './mongo-test-api.ts'
import { secretBoxOfTests } from './test-api.ts'

let testApi: MongoTestApi
beforeAll(async () => {
  testApi = await startMongoApi()
})
afterAll(() => testApi.stop())

test('a search reads ranges of one index, without a sort in memory', async () => {
  const { projectId } = await createTestProject(testApi.api)
  const since = testApi.asked.length
  expect((await testApi.api.get(`/v1/search?project_id=${projectId}&q=pi_1`)).status).toBe(200)
  const searches = searchesAmong(testApi.asked.slice(since))
  // The customers, and a page of the results: of each the equal keys, and the longer ones.
  expect(searches.map(({ find }) => find).toSorted()).toEqual([
    ...Array(4).fill('actions'),
    ...Array(2).fill('operations'),
  ])
  for (const { find, filter, hint, min, max, sort, limit, projection } of searches) {
    const order = { ...(sort && { sort }), ...(min && { min, max }) }
    const stages = await stagesOf({ find, filter, hint, limit, projection, ...order })
    expect(stages).toContain('IXSCAN')
    expect(stages).not.toContain('SORT')
    expect(stages).not.toContain('COLLSCAN')
  }
})

test('a search reads no keys between the months', async () => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  for (let month = 0; month < 11; month++) {
    for (let number = 0; number < 10; number++)
      await putAction(projectId, processorId, number, Date.UTC(2027, month, 3))
  }
  const now = Date.UTC(2027, 11, 1)
  const since = testApi.asked.length
  expect(await walkSearch(projectId, 'pi_4', 100, now)).toHaveLength(22)
  const searches = searchesAmong(testApi.asked.slice(since))
  expect(searches).toHaveLength(2)
  for (const { find, filter, hint, sort } of searches) {
    const { executionStats } = await testApi.explain({ find, filter, hint, ...(sort && { sort }) }, 'executionStats')
    // A key after each range, besides those of the 22 actions with this subject and the 11 with such a provider_ref.
    expect(executionStats?.totalKeysExamined).toBeLessThanOrEqual(22 + 2 * monthMarks(now).length)
  }
})

test('equal keys come first, then longer ones of the newest month, and last those that 0.3.0 stored', async () => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  const put = (month: number, subject: string, toKeys = (keys: string[]) => keys) =>
    putAction(projectId, processorId, 1, Date.UTC(2027, month, 3), { subject, provider_ref: `x_${subject}` }, toKeys)
  const withoutMonth = (keys: string[]) => keys.map(textOfKey)
  const expected = [
    await put(10, 'po_1'),
    await put(9, 'po_1', withoutMonth),
    await put(8, 'po_1'),
    await put(10, 'po_1z'),
    await put(9, 'po_1a'),
    await put(9, 'po_1b'),
    await put(8, 'po_1a'),
    await put(10, 'po_1a', withoutMonth),
  ]
  for (const limit of [1, 2, 3, 20]) {
    expect(await walkSearch(projectId, 'po_1', limit, Date.UTC(2027, 11, 1))).toEqual(expected)
  }
})

test('the characters of a pattern stand for themselves', async () => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  const subject = 'a.*+?^$()[]{}\\/-#~!"%&\',;:<>=@`'
  const id = await putAction(projectId, processorId, 1, Date.UTC(2026, 10, 3), { subject: `${subject}1` })
  for (let length = 2; length <= subject.length; length++) {
    const q = encodeURIComponent(subject.slice(0, length))
    expect(await readToEnd(`/v1/search?project_id=${projectId}&q=${q}`)).toEqual([id])
    expect(await readToEnd(`/v1/incidents?project_id=${projectId}&q=${q}`)).toEqual([])
  }
  expect(await readToEnd(`/v1/search?project_id=${projectId}&q=${encodeURIComponent('a.b')}`)).toEqual([])
})

test.each(['search', 'incidents'])('a query of %s that has only accents is refused', async path => {
  const { projectId } = await createTestProject(testApi.api)
  const { status, body } = await testApi.api.get(`/v1/${path}?project_id=${projectId}&q=%CC%81%CC%81`)
  expect({ status, code: body.error?.code ?? body.code }).toEqual({ status: 400, code: 'invalid_request' })
})

test('actions of a customer are read by the index of searches, without a sort in memory', async () => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  const customer = { id: 'cus_1', name: null, email: null }
  const others = Array.from({ length: 1_000 }, (_, number) => actionOf(projectId, processorId, number))
  await testApi.others.actions.putAll(others.map(action => ({ ...action, search: searchKeysOfAction(action) })))
  const expected: string[] = []
  for (let month = 0; month < 11; month++) {
    const id = await putAction(projectId, processorId, month, Date.UTC(2026, 10, 3 + month), { customer })
    expected.unshift(id)
  }
  expected.push(
    await putAction(projectId, processorId, 1, Date.UTC(2026, 10, 1), { customer }, keys => keys.map(textOfKey)),
  )
  const since = testApi.asked.length
  expect(await readToEnd(`/v1/actions?project_id=${projectId}&customer_id=cus_1&limit=5`)).toEqual(expected)
  for (const { find, filter, sort, limit } of testApi.asked.slice(since).filter(({ find }) => find === 'actions')) {
    const stages = await stagesOf({ find, filter, sort, limit })
    expect(stages).toContain('SORT_MERGE')
    expect(stages).not.toContain('SORT')
  }
})

test('a search of incidents reads ranges of the index of the actions that have one', async () => {
  const { projectId } = await createTestProject(testApi.api)
  const since = testApi.asked.length
  expect((await testApi.api.get(`/v1/incidents?project_id=${projectId}&q=pi_1`)).status).toBe(200)
  const [search] = searchesAmong(testApi.asked.slice(since))
  const { find, filter, hint, limit, projection } = search as Record<string, unknown>
  const stages = await stagesOf({ find, filter, hint, limit, projection })
  expect(stages).toContain('IXSCAN')
  expect(stages).not.toContain('SORT')
  expect(stages).not.toContain('COLLSCAN')
})

test.each([
  { field: 'project_id', collection: 'project_totals' },
  { field: 'connection_id', collection: 'daily_totals' },
])('stats of a $field read one range of an index, without a sort', async ({ field, collection }) => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  const since = testApi.asked.length
  const path = `/v1/stats?${field}=${field === 'project_id' ? projectId : processorId}&from=2026-11-01&to=2026-12-01`
  expect((await testApi.api.get(path)).status).toBe(200)
  const queries = testApi.asked.slice(since).filter(({ find }) => find === 'daily_totals' || find === 'project_totals')
  // Whether a day waits for its count, and the days.
  expect(queries.map(({ find }) => find)).toEqual(['daily_totals', collection])
  for (const { find, filter, sort, limit } of queries) {
    expect(sort).toBeUndefined()
    const stages = await stagesOf({ find, filter, ...(limit === undefined ? {} : { limit }) })
    expect(stages).toContain('IXSCAN')
  }
})

test('stats of a week of 20 connections read seven documents of totals', async () => {
  const { projectId } = await createTestProject(testApi.api)
  const times = { verdict: [], acknowledgement: [], resolution: [] }
  for (let day = 1; day <= 28; day++) {
    const at = new Date(Date.UTC(2026, 10, day))
    const shared = { project_id: projectId, day: at, totals: [], times }
    await testApi.others.projectTotals.put({ ...shared, _id: `${projectId}/${day}`, version: 1 })
    for (let index = 0; index < 20; index++) {
      const connection_id = `con_${projectId}_${index}`
      const id = `${connection_id}/${day}`
      await testApi.others.dailyTotals.put({ ...shared, _id: id, connection_id, marks: 1, counted: 1 })
    }
  }
  const since = testApi.asked.length
  const path = `/v1/stats?project_id=${projectId}&from=2026-11-08&to=2026-11-15`
  expect((await testApi.api.get(path)).status).toBe(200)
  const read = { daily_totals: 0, project_totals: 0 }
  for (const { find, filter, limit } of testApi.asked.slice(since)) {
    if (find !== 'daily_totals' && find !== 'project_totals') continue
    const plan = await testApi.explain({ find, filter, ...(limit === undefined ? {} : { limit }) }, 'executionStats')
    read[find as keyof typeof read] += plan.executionStats?.totalDocsExamined ?? Number.NaN
  }
  expect(read).toEqual({ daily_totals: 0, project_totals: 7 })
})

test('a dry run reads only the actions with a second look in its window', async () => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  const since = testApi.asked.length
  const path = `/v1/projects/${projectId}/connections/${processorId}/dry-run?out_of_band=ignore`
  expect((await testApi.api.get(path)).status).toBe(200)
  const [query] = testApi.asked.slice(since).filter(command => command.find === 'actions')
  const { find, filter } = query as Record<string, unknown>
  const plan = JSON.stringify(await testApi.explain({ find, filter }))
  expect(plan.slice(plan.indexOf('"winningPlan"'))).toContain('"indexName":"connection_ids_1_look_done_-1__id_-1"')
})

test.each(['incidents', 'actions'])('%s of a storm are read by an index in the order of the list', async list => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  const storm = await storeStorm(testApi, projectId, processorId, [newId('incident'), newId('incident')])
  const since = testApi.asked.length
  expect((await testApi.api.get(`/v1/${list}?storm_id=${storm}`)).status).toBe(200)
  const [query] = testApi.asked.slice(since).filter(({ find, sort }) => find === 'storm_members' && sort !== undefined)
  const { find, filter, sort, limit } = query as Record<string, unknown>
  const stages = await stagesOf({ find, filter, sort, limit })
  expect(stages).toContain('IXSCAN')
  expect(stages).not.toContain('SORT')
})

test('an operation is found by its run, its idempotency key and its amount, each run once', async () => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  const run_id = `Nightly ${newId('request')}`
  const body = { connection_id: processorId, kind: 'refund', amount: 123_450, currency: 'eur', run_id }
  const first = await testApi.api.post('/v1/operations', { ...body, subject: 'pi_1', idempotency_key: 'order-1' })
  await testApi.api.post('/v1/operations', { ...body, subject: 'pi_2' })
  const search = async (q: string) => {
    const { body: page } = await testApi.api.get(`/v1/search?project_id=${projectId}&q=${encodeURIComponent(q)}`)
    return (page.data as { type: string; id: string }[]).map(({ type, id }) => `${type} ${id}`)
  }
  expect(await search('ORDER-1')).toEqual([`operation ${first.body.operation_id}`])
  expect(await search('EUR 1,234.50')).toHaveLength(2)
  const byRun = await search(run_id.slice(0, 20))
  expect(byRun).toHaveLength(3)
  expect(byRun[0]).toBe(`run ${run_id}`)
  expect((await testApi.api.get(`/v1/operations/${first.body.operation_id}`)).body).not.toHaveProperty('search')
})

test('a run is found once, before its newest operation, also if it lasted for months', async () => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  const report = async (run_id: string) => {
    const body = {
      connection_id: processorId,
      kind: 'refund',
      amount: 1,
      currency: 'eur',
      run_id,
      subject: newId('request'),
    }
    return (await testApi.api.post('/v1/operations', body)).body.operation_id as string
  }
  const [old, other, newest] = [await report('nightly-a'), await report('nightly-b'), await report('nightly-a')]
  const created_at = '2026-10-03T00:00:00.000Z'
  const operations = testApi.db.collection<OperationDocument>('operations')
  const { _id, search, ...fields } = (await operations.findOne({ _id: old })) as OperationDocument
  await operations.updateOne(
    { _id: old },
    { $set: { created_at, search: searchKeysOfOperation({ operation_id: old, ...fields, created_at } as Operation) } },
  )
  for (const limit of [1, 2, 20]) {
    const found = await readToEnd(`/v1/search?project_id=${projectId}&q=nightly&limit=${limit}`)
    expect(found.toSorted()).toEqual(['nightly-a', 'nightly-b', old, other, newest].toSorted())
    expect(found[found.indexOf('nightly-a') + 1]).toBe(newest)
    expect(found[found.indexOf('nightly-b') + 1]).toBe(other)
  }
})

test('many results are paged in one order, also with several keys of one action', async () => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  const ids: string[] = []
  for (let number = 0; number < 60; number++) {
    const action = actionOf(projectId, processorId, number)
    await testApi.others.actions.put({ ...action, search: searchKeysOfAction(action) })
    ids.push(action._id)
  }
  const seen = await readToEnd(`/v1/search?project_id=${projectId}&q=pi_&limit=7`)
  expect(seen).toHaveLength(60)
  expect(seen.toSorted()).toEqual(ids.toSorted())
})

test('many results are paged to the end, also if MongoDB orders their keys in another way than JavaScript', async () => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  const ids: string[] = []
  for (const subject of ['po_\uffee', 'po_\u{1f600}a', 'po_\u{1f600}b', 'po_\ufffd', 'po_z']) {
    const action = { ...actionOf(projectId, processorId, 1), subject, provider_ref: `${subject}_refund` }
    await testApi.others.actions.put({ ...action, search: searchKeysOfAction(action) })
    ids.push(action._id)
  }
  expect((await readToEnd(`/v1/search?project_id=${projectId}&q=po_&limit=1`)).toSorted()).toEqual(ids.toSorted())
})

test('operations of one key are paged to the end, the newest first', async () => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  const ids: string[] = []
  for (let number = 0; number < 5; number++) {
    const body = { connection_id: processorId, kind: 'refund', subject: 'pi_paged', amount: number }
    ids.unshift((await testApi.api.post('/v1/operations', body)).body.operation_id)
  }
  const found = await readToEnd(`/v1/search?project_id=${projectId}&q=pi_paged&limit=2`)
  expect(found.toSorted()).toEqual(ids.toSorted())
})

test('a search ends with any cursor, also one that is signed and leads outside of what was searched', async () => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  for (let number = 0; number < 8; number++) {
    const action = actionOf(projectId, processorId, number)
    await testApi.others.actions.put({ ...action, search: searchKeysOfAction(action) })
  }
  const query = { project_id: projectId, q: 'pi_1' }
  const asked = { list: 'search', projectId, params: {}, query, body: undefined }
  const cursors = createListCursors(secretBoxOfTests, asked)
  for (const section of ['actions', 'operations'] as const) {
    const marks = ['', monthMark(Date.now()), ' 9999/']
    const texts = ['', 'a', 'pi_1', 'pi_1_refund', 'pi_1\uffff', 'pi_2', '\uffff', '\u{10ffff}']
    for (const key of marks.flatMap(mark => texts.map(text => mark + text))) {
      for (const ms of [-1, 0, Date.UTC(2026, 10, 21, 0, 0, 1), 8.64e15]) {
        for (const id of ['', 'a', '\u{10ffff}']) {
          const cursor = cursors.sign(SearchCursor, { section, after: { key, at: new Date(ms), id } })
          const began = performance.now()
          const { status } = await testApi.api.get(`/v1/search?project_id=${projectId}&q=pi_1&limit=1&cursor=${cursor}`)
          expect({ section, key, ms, id, status }).toMatchObject({
            status: textOfKey(key).startsWith('pi_1') && !key.startsWith(' 9999/') ? 200 : 400,
          })
          expect(performance.now() - began).toBeLessThan(5_000)
        }
      }
    }
  }
})

test('a search that its caller left reads no further page', async () => {
  const { projectId, processorId } = await createTestProject(testApi.api)
  for (let number = 0; number < 8; number++) {
    const action = actionOf(projectId, processorId, number)
    await testApi.others.actions.put({ ...action, search: searchKeysOfAction(action) })
  }
  const left = AbortSignal.abort()
  const request = { projectId, prefix: 'pi_', after: undefined, limit: 1, now: Date.now(), signal: left }
  const since = testApi.asked.length
  await expect(testApi.search.actions(request)).rejects.toMatchObject({ code: 'unavailable' })
  expect(searchesAmong(testApi.asked.slice(since))).toEqual([])
})

/** The queries of searches among the commands of the API. */
function searchesAmong(asked: MongoTestApi['asked']) {
  return asked.filter(({ find, hint }) => find !== undefined && hint !== undefined)
}

/** Stores an action with some fields and other keys. @returns its id */
async function putAction(
  projectId: string,
  connectionId: string,
  number: number,
  atMs = Date.UTC(2026, 10, 21),
  fields: Partial<ActionDocument> = {},
  toKeys = (keys: string[]) => keys,
): Promise<string> {
  const first_seen = new Date(atMs + number)
  const action = {
    ...actionOf(projectId, connectionId, number),
    first_seen,
    first_seen_at: first_seen.toISOString(),
    ...fields,
  }
  await testApi.others.actions.put({ ...action, search: toKeys(searchKeysOfAction(action)) })
  return action._id
}

/** The ids of all actions that the index finds, page by page. */
async function walkSearch(projectId: string, prefix: string, limit: number, now: number): Promise<string[]> {
  const seen: string[] = []
  for (let after: SearchPosition | undefined; ; ) {
    const page = await testApi.search.actions({
      projectId,
      prefix,
      after,
      limit,
      now,
      signal: new AbortController().signal,
    })
    seen.push(...page.map(({ _id }) => _id))
    const last = page.at(-1)
    if (last === undefined || page.length < limit) return seen
    after = { key: foundKey(last, last.first_seen, prefix) ?? '', at: last.first_seen, id: last._id }
  }
}

/** The ids of all results of a search. */
async function readToEnd(path: string): Promise<string[]> {
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await testApi.api.get(cursor === '' ? path : `${path}&cursor=${cursor}`)
    expect(status).toBe(200)
    seen.push(...body.data.map((item: { id?: string; action_id: string }) => item.id ?? item.action_id))
    cursor = body.next_cursor
  }
  return seen
}

/** The names of the stages of MongoDB's plan for a query. */
async function stagesOf(query: object): Promise<(string | undefined)[]> {
  const plan = JSON.stringify(await testApi.explain(query))
  const winning = plan.slice(plan.indexOf('"winningPlan"'), plan.indexOf('"rejectedPlans"'))
  return [...winning.matchAll(/"stage":"(\w+)"/g)].map(([, stage]) => stage)
}

/** Several actions have the same subject and time, and each is found by two keys. */
function actionOf(project_id: string, connection_id: string, number: number): ActionDocument {
  const at = new Date(Date.UTC(2026, 10, 21, 0, 0, number % 3))
  const iso = at.toISOString()
  return {
    _id: newId('action'),
    project_id,
    connection_id,
    connection_ids: [connection_id],
    provider: 'processor',
    kind: 'refund',
    subject: `pi_${number % 5}`,
    provider_ref: `pi_${number % 7}_refund`,
    amount: number,
    currency: 'eur',
    state: 'succeeded',
    provider_created_at: iso,
    first_seen_at: iso,
    second_look_at: null,
    verdict: 'pending',
    reason: 'awaiting_second_look',
    operation_id: null,
    incident_id: null,
    event_ids: [],
    timeline: [],
    version: 1,
    first_seen: at,
  }
}
