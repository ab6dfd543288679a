import { nextStepsOfBurst, nextStepsOfCanary, nextStepsOfRepeat, providerStepsOf, stepsInUtc } from '@backstop/channels'
import {
  type ActionDocument,
  type IncidentDocument,
  IncidentQuery,
  IncidentState,
  IncidentWithTimeline,
  ListedIncident,
  type TimelineEntry,
} from '@backstop/contracts'
import type { z } from 'zod'
import type { Principal } from '../../access/rules/access.ts'
import type { ListPosition } from '../../http/cursor.ts'
import { findInProject, projectFilterOf } from '../../http/find-resource.ts'
import { getRoute, isWithin, pagedRoute, windowOf } from '../../http/read-routes.ts'
import { refusedField } from '../../http/refused-field.ts'
import type { Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { DocumentFilter } from '../../store/collection.ts'
import type { SearchIndex } from '../../store/search-index.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { showAction } from '../actions/actions.ts'
import { ofCustomer } from '../actions/of-customer.ts'
import { nameActors } from '../actors/name-actors.ts'
import { readAlertDeliveries } from '../deliveries/alert-deliveries.ts'
import { alertsOfIncident } from '../deliveries/rules/alerts-of.ts'
import { requiredPrefix } from '../search/search.ts'
import { type PlacedItem, pageOfStorm } from '../storms/read-storm.ts'
import { bulkRoutes } from './bulk-changes.ts'
import { changeIncidentRoutes } from './change-incident.ts'
import { pageFolded, showStorms } from './fold-storms.ts'
import { showIncident } from './rules/incident.ts'
import { showIncidents } from './show-incidents.ts'

const tag = 'Incidents'
/** The incidents that a search finds, so that the query of a page stays small. */
const MOST_FOUND = 500
const MOST_ABOUT = 10_000

/** /v1/incidents */
export function incidentRoutes(parts: AdminParts): Route[] {
  const { stores } = parts
  return [
    // Before /v1/incidents/{id}, which would match this path too.
    ...bulkRoutes(parts),
    pagedRoute({
      path: '/v1/incidents',
      operationId: 'listIncidents',
      tag,
      summary: 'List incidents, newest first',
      items: 'incidents',
      isStreamable: true,
      query: IncidentQuery,
      schema: ListedIncident,
      page: async (request, place) => {
        const found = await pageIncidents(parts, request, place)
        const shown = await showIncidents(
          stores,
          found.map(({ item }) => item),
        )
        const folded = request.query.fold_storms ? shown.flatMap(({ storm_id }) => storm_id ?? []) : []
        const storms = await showStorms(stores, folded, request.signal)
        return found.flatMap(({ place }, index) => {
          const incident = shown[index]
          const storm = storms.get(incident?.storm_id ?? '')
          return incident === undefined ? [] : { place, incident: { ...incident, ...(storm && { storm }) } }
        })
      },
      placeOf: ({ place }) => place,
      show: ({ incident }) => incident,
    }),
    getRoute({
      path: '/v1/incidents',
      operationId: 'getIncident',
      tag,
      summary: 'Get an incident with its action, timeline and deliveries',
      description:
        'The timeline starts with the first event and shows who changed the incident; deliveries of its alerts have all their attempts.',
      item: 'incident',
      schema: IncidentWithTimeline,
      isVersioned: true,
      collection: stores.incidents,
      show: incident => showWithTimeline(stores, incident),
    }),
    ...changeIncidentRoutes(parts),
  ]
}

interface IncidentRequest {
  readonly query: z.output<typeof IncidentQuery>
  readonly principal: Principal
  readonly now: Date
  readonly signal: AbortSignal
}

/** A page of incidents, newest first. */
async function pageIncidents(
  { stores, search }: Pick<AdminParts, 'stores' | 'search'>,
  { query, principal, now, signal }: IncidentRequest,
  place: { readonly after: ListPosition | undefined; readonly limit: number },
): Promise<PlacedItem<IncidentDocument>[]> {
  const { connection_id, account, state, code, storm_id, actor_id, customer_id, q, fold_storms = false } = query
  if (fold_storms && (storm_id ?? q ?? customer_id) !== undefined) {
    throw refusedField('query.fold_storms', 'Leave it out with storm_id, q and customer_id')
  }
  const ofProject = projectFilterOf(principal, query.project_id)
  // Without a state in the query, all states are named, because in the index the state comes before the date that sorts the list.
  const filter = { connection_id, account, code, actor_id, state: state ?? { in: IncidentState.options } }
  const found = q === undefined ? undefined : await findIds(search, ofProject.project_id, q, now)
  const about =
    customer_id === undefined
      ? undefined
      : await idsAbout(stores, { ...ofCustomer(customer_id, ofProject, now), ...ofProject })
  const ids = found === undefined || about === undefined ? (found ?? about) : found.filter(id => about.includes(id))
  const where = { ...filter, ...ofProject }
  const window = windowOf(query)
  if (fold_storms) return pageFolded(stores, { where, window }, { ...place, signal })
  if (storm_id === undefined) {
    const searched = ids === undefined ? where : { ...where, _id: { in: ids } }
    const page = await stores.incidents.page({ where: searched, by: 'opened', window, ...place })
    return page.map(item => ({ item, place: { at: item.opened, id: item._id } }))
  }
  const storm = await findInProject(stores.storms, principal, 'storm', storm_id)
  return pageOfStorm(stores, storm, { ...place, signal }, async members => {
    const own = members.map(({ _id }) => _id).filter(id => ids?.includes(id) ?? true)
    const found = await stores.incidents.findAll({ ...where, _id: { in: own } })
    return new Map(found.filter(({ opened }) => isWithin(window, opened)).map(incident => [incident._id, incident]))
  })
}

/** The ids of the incidents about a customer: of each action the open one, or else the last. */
async function idsAbout(
  { actions }: Pick<ReadCollections, 'actions'>,
  where: DocumentFilter<ActionDocument>,
): Promise<string[]> {
  const ids: string[] = []
  for await (const batch of actions.batches({ ...where, incident_id: { not: null } }, ['incident_id'])) {
    ids.push(...batch.flatMap(({ incident_id }) => incident_id ?? []))
    if (ids.length > MOST_ABOUT) {
      throw refusedField('query.customer_id', 'List the actions of the customer: it has too many incidents')
    }
  }
  return ids
}

/** The ids of the incidents that a text finds: its own id, and those of the actions with such a key. */
async function findIds(search: SearchIndex, projectId: string | undefined, q: string, now: Date): Promise<string[]> {
  if (projectId === undefined) throw refusedField('query.project_id', 'Name the project to search')
  const request = { projectId, prefix: requiredPrefix(q), limit: MOST_FOUND, now: now.getTime() }
  return [q, ...(await search.incidentIds(request))]
}

async function showWithTimeline(
  stores: Pick<
    ReadCollections,
    'actions' | 'actors' | 'connections' | 'deliveries' | 'silences' | 'stormMembers' | 'storms'
  >,
  incident: IncidentDocument,
): Promise<IncidentWithTimeline> {
  const { project_id, action_id } = incident
  const about = action_id === null ? undefined : await stores.actions.find({ _id: action_id, project_id })
  const [action] = about === undefined ? [] : await nameActors(stores, [about])
  const [shown] = await showIncidents(stores, [incident])
  return {
    ...(shown ?? showIncident(incident, undefined)),
    silence: shown?.silence ?? null,
    action: action === undefined ? null : showAction(action),
    timeline: action?.timeline ?? showChanges(incident),
    next_steps: showNextSteps(incident, action),
    deliveries: await readAlertDeliveries(stores, project_id, alertsOfIncident(incident)),
  }
}

/**
 * @returns null if nothing is left to do about a burst, and for an action that is not unexplained, unless it repeats another refund or a canary
 * made it
 */
function showNextSteps(
  { code, burst, state }: IncidentDocument,
  action: ActionDocument | undefined,
): IncidentWithTimeline['next_steps'] {
  if (burst !== undefined) return state === 'resolved' ? null : stepsInUtc(nextStepsOfBurst(burst))
  if (action === undefined) return null
  if (code === 'REFUNDED_TWICE') return stepsInUtc(nextStepsOfRepeat(showAction(action)))
  if (code === 'CANARY_USED') return stepsInUtc(nextStepsOfCanary(showAction(action)))
  return action.verdict === 'unexplained' ? stepsInUtc(providerStepsOf(showAction(action))) : null
}

/** The changes that people made. An action has them in its own timeline. */
function showChanges({ changes = [] }: IncidentDocument): TimelineEntry[] {
  return changes.map(({ command_id: _command, version: _version, ...entry }) => entry)
}
