import { providerStepsOfStorm, stepsInUtc } from '@backstop/channels'
import {
  ConnectionListQuery,
  type OriginChannel,
  partsOfStormScope,
  type RecordKind,
  type StormDocument,
  StormOverview,
  StormWithSteps,
  stormScopesOf,
  ValueCounter,
} from '@backstop/contracts'
import { projectFilterOf } from '../../http/find-resource.ts'
import { getRoute, pagedRoute } from '../../http/read-routes.ts'
import type { Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { readAlertDeliveries } from '../deliveries/alert-deliveries.ts'
import { alertsOfStorm } from '../deliveries/rules/alerts-of.ts'
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
      query: ConnectionListQuery,
      schema: StormOverview,
      async page({ query: { project_id, connection_id }, principal, signal }, place) {
        const ofConnection = connection_id === undefined ? {} : { connection_id: stormScopesOf(connection_id) }
        const where = { ...ofConnection, ...projectFilterOf(principal, project_id) }
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
      summary: 'Get a storm with its incidents counted and the deliveries of its reports',
      item: 'storm',
      schema: StormWithSteps,
      collection: storms,
      async show(storm, { signal }) {
        const count = await countStorm(stores, storm, signal)
        const [next_steps, deliveries] = await Promise.all([
          nextStepsOf(stores, storm, count),
          readAlertDeliveries(stores, storm.project_id, alertsOfStorm(storm)),
        ])
        return { ...showStorm(storm, count), next_steps, deliveries }
      },
    }),
  ]
}

/** What to do at the provider about a storm; null if every incident is resolved. */
export async function nextStepsOf(
  { stormMembers }: { readonly stormMembers: Pick<ReadCollections['stormMembers'], 'batches'> },
  storm: StormDocument,
  { states, money }: StormCount,
): Promise<StormWithSteps['next_steps']> {
  if (states.open + states.acknowledged === 0) return null
  const members = { count: 0, firstMs: storm.began_at.getTime() }
  const channels = new ValueCounter<OriginChannel, null>()
  const keyNames = new ValueCounter<string, null>()
  const modes = new ValueCounter<'live' | 'test', null>()
  const kinds = new ValueCounter<RecordKind, null>()
  const where = { connection_id: storm.connection_id, storm_id: storm._id }
  for await (const batch of stormMembers.batches(where, ['facts', 'kind', 'opened_at'])) {
    for (const { facts, kind, opened_at } of batch) {
      members.count++
      members.firstMs = Math.min(members.firstMs, opened_at.getTime())
      channels.add(facts.channel, null)
      keyNames.add(facts.key_name, null)
      modes.add(facts.mode, null)
      kinds.add(kind, null)
    }
  }
  const [onlyMode] = modes.all()
  const steps = providerStepsOfStorm({
    provider: storm.provider,
    mode: onlyMode?.count === members.count ? onlyMode.value : null,
    kind: kinds.all()[0]?.value ?? 'refund',
    hasMoney: money.length > 0,
    account: partsOfStormScope(storm.connection_id).account || undefined,
    first_at: new Date(members.firstMs).toISOString(),
    origin: {
      channel: channels.most(members.count)?.value ?? null,
      key_name: keyNames.most(members.count)?.value ?? null,
      // Members have no name of a user, because it is personal data.
      user: null,
    },
  })
  return stepsInUtc(steps)
}
