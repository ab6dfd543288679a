import { type ActionDocument, ActionQuery, isoTime, ShownAction, type StormMemberDocument } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { z } from 'zod'
import type { Principal } from '../../access/rules/access.ts'
import type { ListPosition } from '../../http/cursor.ts'
import { findInProject, projectFilterOf, requireInProject } from '../../http/find-resource.ts'
import { isWithin, itemRoute, pagedRoute, windowOf } from '../../http/read-routes.ts'
import type { Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { DocumentFilter, Range } from '../../store/collection.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { nameActors } from '../actors/name-actors.ts'
import { type PlacedItem, pageOfStorm } from '../storms/read-storm.ts'
import { ofCustomer } from './of-customer.ts'

const tag = 'Actions'

/** /v1/actions */
export function actionRoutes({ stores }: AdminParts): Route[] {
  return [
    pagedRoute({
      path: '/v1/actions',
      operationId: 'listActions',
      tag,
      summary: 'List refunds and cancellations, newest first',
      description:
        'Each action has its verdict and the reason. `connection_id` selects every action that was seen through that connection.',
      items: 'actions',
      isStreamable: true,
      query: ActionQuery,
      schema: ShownAction,
      page: async (request, place) => {
        const found = await pageActions(stores, request, place)
        const named = await nameActors(
          stores,
          found.map(({ item }) => item),
        )
        return named.map((item, index) => ({ item, place: (found[index] as (typeof found)[number]).place }))
      },
      placeOf: ({ place }: PlacedItem<ActionDocument>) => place,
      show: ({ item }) => showAction(item),
    }),
    itemRoute({
      path: '/v1/actions/{id}',
      operationId: 'getAction',
      tag,
      summary: 'Get an action with its verdict, the reason and the timeline',
      description:
        '`why` contains the rule of the verdict, the operations that do not explain the action with the reason for each, and the answer of the provider if it was asked.',
      item: 'action',
      schema: ShownAction,
      find: ({ params, principal }) => findAction(stores, principal, params.id),
      show: async action => {
        const [named = action] = await nameActors(stores, [action])
        return showAction(named)
      },
    }),
  ]
}

/** @throws AppError `not_found`. If the action was archived, it says where to read it */
async function findAction(
  { actions, archivedActions }: Pick<ReadCollections, 'actions' | 'archivedActions'>,
  principal: Principal,
  id: string,
): Promise<ActionDocument> {
  const found = await actions.find({ _id: id })
  if (found !== undefined) return requireInProject(found, principal, 'action', id)
  const archived = requireInProject(await archivedActions.find({ _id: id }), principal, 'action', id)
  const at = archived.archived_at.toISOString().slice(0, 10)
  throw new AppError(
    'not_found',
    `Action ${id} was archived on ${at}; read it with: backstop archive show --action ${id}`,
  )
}

interface ActionRequest {
  readonly query: z.output<typeof ActionQuery>
  readonly principal: Principal
  readonly now: Date
  readonly signal: AbortSignal
}

/** A page of actions: the last one seen first, or those of a storm with the newest incidents first. */
async function pageActions(
  stores: Pick<ReadCollections, 'actions' | 'storms' | 'stormMembers'>,
  { query, principal, now, signal }: ActionRequest,
  place: { readonly after: ListPosition | undefined; readonly limit: number },
): Promise<PlacedItem<ActionDocument>[]> {
  const ofProject = projectFilterOf(principal, query.project_id)
  const where = { ...filterOf(query), ...ofCustomer(query.customer_id, ofProject, now), ...ofProject }
  const window = windowOfActions(query)
  if (query.storm_id === undefined) {
    const found = await stores.actions.page({ where, by: 'first_seen', window, ...place })
    return found.map(item => ({ item, place: { at: item.first_seen, id: item._id } }))
  }
  const storm = await findInProject(stores.storms, principal, 'storm', query.storm_id)
  const ofStorm = { connection_id: storm.connection_id, storm_id: storm._id }
  return pageOfStorm(stores, storm, { ...place, signal }, async members => {
    const action_id = { in: members.map(member => member.action_id) }
    const [found, all] = await Promise.all([
      stores.actions.findAll({ ...where, _id: action_id }),
      stores.stormMembers.findAll({ ...ofStorm, action_id }),
    ])
    // An action with several incidents is listed once, at the place of the newest.
    const newestOf = new Map(all.toSorted(oldestFirst).map(member => [member.action_id, member._id]))
    const inWindow = found.filter(({ first_seen }) => isWithin(window, first_seen))
    return new Map(inWindow.map(action => [newestOf.get(action._id) ?? '', action]))
  })
}

function oldestFirst(a: StormMemberDocument, b: StormMemberDocument): number {
  return a.opened_at.getTime() - b.opened_at.getTime() || (a._id < b._id ? -1 : 1)
}

function filterOf({
  connection_id,
  account,
  min_amount,
  max_amount,
  verdict,
  reason,
  kind,
  state,
  subject,
  provider_ref,
  actor_id,
  currency,
  mode,
  made_from,
  made_to,
}: z.output<typeof ActionQuery>): DocumentFilter<ActionDocument> {
  return {
    connection_ids: connection_id,
    account,
    verdict,
    reason,
    kind,
    state,
    subject,
    provider_ref,
    actor_id,
    currency,
    mode,
    provider_created_at: madeBetween(made_from, made_to),
    amount: rangeOf(min_amount, max_amount),
    merged_into: null,
  }
}

/** Providers' clocks may be ahead of ours by less than this, in milliseconds. */
const CLOCK_TOLERANCE_MS = 86_400_000

/** An action is first seen after the provider made it, so a list by that time reads no older actions. */
function windowOfActions({ from, to, made_from }: z.output<typeof ActionQuery>) {
  const window = windowOf({ from, to })
  if (made_from === undefined) return window
  const since = Math.max(window.from?.getTime() ?? 0, Date.parse(made_from) - CLOCK_TOLERANCE_MS)
  return { ...window, from: new Date(since) }
}

/** Times are stored as text with milliseconds, and a range includes its bounds. */
function madeBetween(from: string | undefined, to: string | undefined): Range<string> | undefined {
  return rangeOf(from && isoTime(Date.parse(from)), to && isoTime(Date.parse(to) - 1))
}

/** Undefined matches everything. */
function rangeOf<Value>(min: Value | undefined, max: Value | undefined): Range<Value> | undefined {
  return min === undefined && max === undefined ? undefined : { min, max }
}

/** An action as the API shows it: without the internal fields of the reconciler. */
export function showAction(document: ActionDocument): ShownAction {
  const { _id, first_seen, search, look_done, look_connections, verdict_bucket, ...action } = document
  return { action_id: _id, ...action }
}
