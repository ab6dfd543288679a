import { type StormDocument, StormOverview, StormQuery, StormWithSteps } from '@backstop/contracts'
import { projectFilterOf } from '../../http/find-resource.ts'
import { getRoute, pagedRoute } from '../../http/read-routes.ts'
import type { Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { nextStepsOf } from './next-steps.ts'
import { countStorm, countStorms } from './read-storm.ts'
import { EMPTY_COUNT, type StormCount, showStorm } from './rules/storm.ts'

const tag = 'Storms'

interface CountedStorm {
  readonly storm: StormDocument
  readonly count: StormCount
}

/** /v1/storms */
export function stormRoutes({ stores }: AdminParts): Route[] {
  const { storms } = stores
  return [
    pagedRoute({
      path: '/v1/storms',
      operationId: 'listStorms',
      tag,
      summary: 'List storms of unexplained actions, newest first',
      description: 'Its incidents are counted now. The calls that change an incident take the id of a storm too.',
      items: 'storms',
      query: StormQuery,
      schema: StormOverview,
      async page({ query: { project_id, connection_id }, principal, signal }, place) {
        const where = { connection_id, ...projectFilterOf(principal, project_id) }
        const found = await storms.page({ where, by: 'began_at', ...place })
        const counts = await countStorms(stores, found, signal)
        return found.map(storm => ({ storm, count: counts.get(storm._id) ?? EMPTY_COUNT }))
      },
      placeOf: ({ storm }: CountedStorm) => ({ at: storm.began_at, id: storm._id }),
      show: ({ storm, count }) => showStorm(storm, count),
    }),
    getRoute({
      path: '/v1/storms',
      operationId: 'getStorm',
      tag,
      summary: 'Get a storm with its incidents counted',
      item: 'storm',
      schema: StormWithSteps,
      collection: storms,
      async show(storm, { signal }) {
        const count = await countStorm(stores, storm, signal)
        return { ...showStorm(storm, count), next_steps: await nextStepsOf(stores, storm, count) }
      },
    }),
  ]
}
