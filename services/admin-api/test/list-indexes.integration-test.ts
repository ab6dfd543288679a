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

/** Returns the names of the stages in MongoDB's plan for the query of a list. */
async function stagesOf(path: string): Promise<string[]> {
  const since = testApi.asked.length
  expect((await testApi.api.get(path)).status).toBe(200)
  // Excludes the queries of the sweepers that run at the same time. A page queries 51 documents: the 50 shown and one more.
  const lists = testApi.asked.slice(since).filter(command => command.sort !== undefined && command.limit === 51)
  expect(lists).toHaveLength(1)
  const { find, filter, sort, limit } = lists[0] as Record<string, unknown>
  const plan = JSON.stringify(await testApi.explain({ find, filter, sort, limit }))
  const winning = plan.slice(plan.indexOf('"winningPlan"'), plan.indexOf('"rejectedPlans"'))
  return [...winning.matchAll(/"stage":"(\w+)"/g)].map(([, stage]) => stage as string)
}

test('every list with any filter reads an index in its own order, without a sort and without a full scan', async () => {
  const listRoutes = testApi.app.routes.filter(
    route => route.operationId.startsWith('list') && !route.path.includes('{'),
  )
  expect(listRoutes.length).toBeGreaterThan(9)
  const paths = listRoutes.flatMap(({ path, query }) => [
    path,
    ...('project_id' in query.shape ? [`${path}?project_id=${projectId}`] : []),
    ...('channel_id' in query.shape && path === '/v1/deliveries' ? [`${path}?channel_id=${channelId}`] : []),
  ])
  const faults: { path: string; stages: string[] }[] = []
  for (const path of [...paths, '/v1/deliveries?state=dead', `/v1/deliveries?project_id=${projectId}&state=dead`]) {
    const stages = await stagesOf(path)
    const isGood = stages.includes('IXSCAN') && !stages.includes('SORT') && !stages.includes('COLLSCAN')
    if (!isGood) faults.push({ path, stages })
  }
  expect(faults).toEqual([])
})
