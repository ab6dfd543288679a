import { type ActorDocument, ActorPatch, ActorQuery, NewActor, ShownActor } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { z } from 'zod'
import type { ListPosition } from '../../http/cursor.ts'
import { findActiveProject, findProject, notFound, refuseHeartbeat } from '../../http/find-resource.ts'
import { checkIfMatch } from '../../http/if-match.ts'
import { pagedRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route, versionedAnswer } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { AdminCollections, ReadCollections } from '../../store/stores.ts'
import { type ActorCounts, showActor, sumActors } from './rules/show-actor.ts'

const tag = 'Actors'
/** The most actors of a project that people can name. Processes hold all of them. */
const MAX_NAMED = 1_000

type Stores = Pick<ReadCollections, 'actions' | 'actors' | 'dailyTotals'>

/** /v1/projects/{id}/actors */
export function actorRoutes({ stores }: AdminParts): Route[] {
  return [listRoute(stores), getRoute(stores), declareRoute(stores), changeRoute(stores), removeRoute()]
}

function listRoute(stores: AdminParts['stores']): Route {
  return pagedRoute({
    path: '/v1/projects/{id}/actors',
    operationId: 'listActors',
    tag,
    summary: 'List who made refunds and cancellations, the last to act first',
    description:
      'API keys, users of dashboards, hosted pages and providers, as far as the providers name them (docs/actors.md), and prefixes of idempotency keys that people declared. Actions of nobody who is named are not counted.',
    items: 'actors',
    query: ActorQuery,
    schema: ShownActor,
    page: async ({ params, query, principal }, place) => {
      const { _id: projectId } = await findProject(stores, principal, params.id)
      return pageOfActors(stores, projectId, query, place)
    },
    placeOf: ({ last_at, actor_id }) => ({ at: new Date(last_at ?? 0), id: actor_id }),
    show: actor => actor,
  })
}

function getRoute(stores: AdminParts['stores']): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/projects/{id}/actors/{actor_id}',
    operationId: 'getActor',
    tag,
    summary: 'Get who made refunds and cancellations',
    description: 'One actor of `GET /v1/projects/{id}/actors`.',
    scope: 'read',
    answers: { 200: { description: 'The actor; its version is the ETag', schema: ShownActor } },
    refusals: ['not_found'],
    async handle({ params, principal }) {
      const { _id: projectId } = await findProject(stores, principal, params.id)
      const own = { _id: params.actor_id, project_id: projectId }
      const [said, counts] = await Promise.all([
        stores.actors.find({ ...own, removed_at: null }),
        countActors(stores, projectId),
      ])
      const actor = await readActor(stores, { actorId: own._id, projectId }, said, counts.get(own._id))
      const isKnown = said !== undefined || counts.has(own._id) || actor.provider !== null
      if (!isKnown) throw notFound('actor', own._id)
      return versionedAnswer(200, actor)
    },
  })
}

/** The actors are few, so their counts are added up for each page. */
async function pageOfActors(
  stores: Stores,
  projectId: string,
  { kind, role }: z.output<typeof ActorQuery>,
  { after, limit }: { readonly after: ListPosition | undefined; readonly limit: number },
): Promise<ShownActor[]> {
  const said = new Map(
    (await stores.actors.findAll({ project_id: projectId, removed_at: null })).map(actor => [actor._id, actor]),
  )
  const counts = await countActors(stores, projectId)
  // An actor that people named is listed without counts too, so that its name can be removed after its actions were erased.
  const ordered = [...new Set([...counts.keys(), ...said.keys()])]
    .map(id => ({ id, at: Date.parse(counts.get(id)?.last_at ?? EPOCH) }))
    .filter(place => after === undefined || isAfter(place, after))
    .filter(({ id }) => role === undefined || (said.get(id)?.role ?? 'unknown') === role)
    .sort((a, b) => (isAfter(a, { at: new Date(b.at), id: b.id }) ? 1 : -1))
  const listed: ShownActor[] = []
  for (const { id } of ordered) {
    if (listed.length === limit) break
    const actor = await readActor(stores, { actorId: id, projectId }, said.get(id), counts.get(id))
    if (kind === undefined || actor.kind === kind) listed.push(actor)
  }
  return listed
}

/** The place of an actor without actions. */
const EPOCH = new Date(0).toISOString()

function isAfter({ at, id }: { readonly at: number; readonly id: string }, after: ListPosition): boolean {
  return at < after.at.getTime() || (at === after.at.getTime() && id < after.id)
}

async function countActors({ dailyTotals }: Stores, projectId: string): Promise<Map<string, ActorCounts>> {
  const sums = new Map<string, ActorCounts>()
  const withActors = { project_id: projectId, actor_count: { min: 1 } }
  for await (const days of dailyTotals.batches(withActors, ['actors'])) {
    sumActors(
      days.map(({ actors = [] }) => actors),
      sums,
    )
  }
  return sums
}

async function readActor(
  { actions }: Pick<ReadCollections, 'actions'>,
  of: { readonly actorId: string; readonly projectId: string },
  said: ActorDocument | undefined,
  counts: ActorCounts | undefined,
): Promise<ShownActor> {
  const where = { actor_id: of.actorId, project_id: of.projectId }
  const [newest] = await actions.page({ where, by: 'first_seen', limit: 1 })
  return showActor(of, said, newest, counts)
}

function declareRoute(stores: AdminParts['stores']): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/projects/{id}/actors',
    operationId: 'declareActor',
    tag,
    summary: 'Declare software by the prefix of its idempotency keys',
    description:
      'From about two seconds later, actions at the card processor whose idempotency key begins with this prefix are those of this actor, unless the provider names the API key. Whoever has an API key can choose an idempotency key: it says who claims to act, and proves nothing.',
    scope: 'manage',
    body: NewActor,
    answers: { 201: { description: 'The actor; its version is the ETag', schema: ShownActor } },
    refusals: ['not_found', 'conflict'],
    async handle({ params, body, principal, now, newId, change }) {
      const { _id: projectId } = await findActiveProject(stores, principal, params.id)
      const document: ActorDocument = { ...newDocument(newId('actor'), projectId, now), ...body }
      const stored = await change(
        async ({ actors }) => {
          // A request whose answer was lost is repeated with the same ids.
          const own = await actors.find({ _id: document._id })
          if (own !== undefined) return own
          const known = await actors.findAll({ project_id: projectId, removed_at: null })
          requireRoom(known)
          if (known.some(({ prefix }) => prefix === body.prefix)) {
            throw new AppError('conflict', `The prefix ${body.prefix} is declared already`)
          }
          await actors.put(document)
          return document
        },
        () => ({ action: 'actor.declare', target: document._id, projectId }),
      )
      return versionedAnswer(201, showActor({ actorId: stored._id, projectId }, stored, undefined))
    },
  })
}

function newDocument(_id: string, project_id: string, now: Date): ActorDocument {
  const said = { prefix: null, name: null, role: 'unknown', role_since: now, removed_at: null } as const
  return { _id, project_id, ...said, version: 1, created_at: now, updated_at: now }
}

function requireRoom(known: readonly ActorDocument[]): void {
  if (known.length < MAX_NAMED) return
  throw new AppError('conflict', `${MAX_NAMED} actors of this project are named; remove the name of another one first`)
}

function changeRoute(stores: AdminParts['stores']): Route {
  return defineRoute({
    method: 'patch',
    path: '/v1/projects/{id}/actors/{actor_id}',
    operationId: 'nameActor',
    tag,
    summary: 'Name an actor, and say what it is',
    description:
      'Names appear in alerts, in lists and searches, in exports and in statements. With the role `canary`, each action of the actor that is first seen from now on opens an incident CANARY_USED at once. If-Match is optional.',
    scope: 'manage',
    body: ActorPatch,
    answers: { 200: { description: 'The actor', schema: ShownActor } },
    honoursIfMatch: true,
    async handle({ params, body, principal, ifMatch, now, change }) {
      const { _id: projectId } = await findProject(stores, principal, params.id)
      refuseHeartbeat(projectId)
      const where = { _id: params.actor_id, project_id: projectId }
      const [newest] = await stores.actions.page({
        where: { actor_id: params.actor_id, project_id: projectId },
        by: 'first_seen',
        limit: 1,
      })
      // Those of an actor whose actions are all archived are left.
      const counts = (await countActors(stores, projectId)).get(params.actor_id)
      const isKnown = newest !== undefined || counts !== undefined
      const stored = await change(
        async ({ actors }) => {
          const before = await actors.find(where)
          const isForgotten = before !== undefined && before.prefix !== null && before.removed_at !== null
          if (isForgotten || (before === undefined && !isKnown)) throw notFound('actor', params.actor_id)
          // What was said about it is removed, so it is shown with version 0.
          checkIfMatch(ifMatch, before === undefined || before.removed_at !== null ? 0 : before.version)
          if (before === undefined) requireRoom(await actors.findAll({ project_id: projectId, removed_at: null }))
          return changeActor(
            actors,
            before ?? { ...newDocument(params.actor_id, projectId, now), version: 0 },
            body,
            now,
          )
        },
        () => ({ action: 'actor.change', target: params.actor_id, projectId }),
      )
      return versionedAnswer(200, showActor({ actorId: stored._id, projectId }, stored, newest, counts))
    },
  })
}

async function changeActor(
  actors: AdminCollections['actors'],
  before: ActorDocument,
  { name = before.removed_at === null ? before.name : null, role }: z.output<typeof ActorPatch>,
  now: Date,
): Promise<ActorDocument> {
  const known = before.removed_at === null ? before.role : 'unknown'
  const next = role ?? known
  const after: ActorDocument = {
    ...before,
    name,
    role: next,
    role_since: next === known ? before.role_since : now,
    removed_at: null,
    version: before.version + 1,
    updated_at: now,
  }
  await actors.put(after)
  return after
}

function removeRoute(): Route {
  return defineRoute({
    method: 'delete',
    path: '/v1/projects/{id}/actors/{actor_id}',
    operationId: 'forgetActor',
    tag,
    summary: 'Remove the name and the role of an actor, or a declared prefix',
    description:
      'An actor that the provider names stays in the list. A declared prefix names no further actions; its earlier actions keep it.',
    scope: 'manage',
    answers: { 204: { description: 'What people said is removed' } },
    async handle({ params, principal, now, change }) {
      await change(
        async collections => {
          const { _id: projectId } = await findProject(collections, principal, params.id)
          const known = await collections.actors.find({
            _id: params.actor_id,
            project_id: projectId,
            removed_at: null,
          })
          if (known === undefined) throw notFound('named actor', params.actor_id)
          await collections.actors.put({ ...known, removed_at: now, version: known.version + 1, updated_at: now })
          return projectId
        },
        projectId => ({ action: 'actor.remove', target: params.actor_id, projectId }),
      )
      return { status: 204 }
    },
  })
}
