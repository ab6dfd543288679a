import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBelongings } from './contract/every-route.ts'
import { type MongoWorld, openMongoWorld } from './mongo-world.ts'

let world: MongoWorld
let projectId: string
let channelId: string
beforeAll(async () => {
  world = await openMongoWorld()
  for (let i = 0; i < 3; i++) ({ projectId, channelId } = await openBelongings(world))
})
afterAll(() => world.stop())

/** What MongoDB does to answer a list, by the names of its stages. */
async function stagesOf(path: string): Promise<string[]> {
  const since = world.asked.length
  expect((await world.api.get(path)).status).toBe(200)
  // Beside it the sweepers look around; a page asks for one more than the 50 that it shows.
  const lists = world.asked.slice(since).filter(command => command.sort !== undefined && command.limit === 51)
  expect(lists).toHaveLength(1)
  const { find, filter, sort, limit } = lists[0] as Record<string, unknown>
  const plan = JSON.stringify(await world.explain({ find, filter, sort, limit }))
  const winning = plan.slice(plan.indexOf('"winningPlan"'), plan.indexOf('"rejectedPlans"'))
  return [...winning.matchAll(/"stage":"(\w+)"/g)].map(([, stage]) => stage as string)
}

test('every list walks an index in its own order, whatever it is narrowed by: it never sorts nor looks at all there is', async () => {
  const listRoutes = world.app.routes.filter(route => route.operationId.startsWith('list') && !route.path.includes('{'))
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
