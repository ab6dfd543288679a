import {
  type ActionDocument,
  type ActorDocument,
  actorOf,
  containsEmailAddress,
  formatMoney,
  kindWords,
  markOfKey,
  monthMarks,
  nameEndsOf,
  normalizeSearchText,
  SearchQuery,
  type SearchResult,
  SearchResults,
  searchPrefixOf,
  showableText,
  textOfKey,
} from '@backstop/contracts'
import { z } from 'zod'
import { CursorDate, type ListCursors, refusedCursor } from '../../http/cursor.ts'
import { projectFilterOf } from '../../http/find-resource.ts'
import { refusedField } from '../../http/refused-field.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { StoredDocument } from '../../store/collection.ts'
import { type FoundOperation, foundKey, type SearchPosition } from '../../store/search-index.ts'

/** Where the next page begins: in which section, in their order, and after which result of it. Without a position: at its beginning. */
export const SearchCursor = z.strictObject({
  section: z.enum(['first', 'actions', 'operations']),
  /** The results of the section `first` that the earlier pages have. */
  shown: z.int().optional(),
  after: z.strictObject({ key: z.string(), at: CursorDate, id: z.string() }).optional(),
})
type SearchCursor = z.output<typeof SearchCursor>

/** The most actors of one name that a search lists. */
const MOST_ACTORS = 10
/** The most customers that a search lists, and the actions among which it finds them. */
const MOST_CUSTOMERS = 5
const CUSTOMERS_AMONG = 50

/** GET /v1/search */
export function searchRoutes(parts: AdminParts): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/search',
      operationId: 'search',
      tag: 'Search',
      summary: 'Search a project by ids, customer, actor, amount, idempotency key or run',
      description:
        'Finds an id of Backstop exactly, and everything else by its beginning, without regard to case and accents: first at most ten actors by the names that people gave them, then at most five customers, then actions, then operations and their runs; first exact matches, the newest first, then longer ones, those of the newest month first.',
      scope: 'read',
      query: SearchQuery,
      answers: { 200: { description: 'A page of results', schema: SearchResults } },
      refusals: ['not_found'],
      async handle({ query, principal, cursors, signal, now: at }) {
        const { q, limit } = query
        const projectId = projectFilterOf(principal, query.project_id).project_id
        if (projectId === undefined) throw refusedField('query.project_id', 'Name the project to search')
        const cursor = cursors.verify(SearchCursor, query.cursor)
        const request = { projectId, q, prefix: requiredPrefix(q), limit, cursors, signal, now: at.getTime() }
        // The prefix of a query may differ between releases.
        if (cursor?.after !== undefined && !isPlaceOf(cursor.after, request)) throw refusedCursor()
        return { status: 200, body: await searchPage(parts, request, cursor ?? { section: 'first' }) }
      },
    }),
  ]
}

function isPlaceOf({ key }: SearchPosition, { prefix, now }: Pick<PageRequest, 'prefix' | 'now'>): boolean {
  return textOfKey(key).startsWith(prefix) && monthMarks(now).includes(markOfKey(key))
}

/** The beginning of the keys that a query asks for. @throws AppError `invalid_request` if the query has accents or spaces only */
export function requiredPrefix(q: string): string {
  const prefix = searchPrefixOf(q)
  if (prefix === '') throw refusedField('query.q', 'Give letters, digits or signs')
  return prefix
}

interface PageRequest {
  readonly projectId: string
  readonly q: string
  readonly prefix: string
  readonly limit: number
  readonly cursors: ListCursors
  readonly now: number
  readonly signal: AbortSignal
}

async function searchPage(
  parts: AdminParts,
  request: PageRequest,
  { section, shown = 0, after }: SearchCursor,
): Promise<{ data: SearchResult[]; next_cursor: string | null }> {
  const { search } = parts
  const { prefix, limit, cursors } = request
  const sign = (next: SearchCursor) => cursors.sign(SearchCursor, next)
  const data: SearchResult[] = []
  if (section === 'first') {
    const found = await findFirst(parts, request)
    data.push(...found.slice(shown, shown + limit))
    if (found.length > shown + limit) return { data, next_cursor: sign({ section, shown: shown + limit }) }
    if (data.length === limit) return { data, next_cursor: sign({ section: 'actions' }) }
  }
  if (section !== 'operations') {
    const left = limit - data.length
    const found = await search.actions({ ...request, after, limit: left + 1 })
    data.push(...found.slice(0, left).map(actionResult))
    const last = found[left - 1]
    if (found.length > left && last !== undefined) {
      return { data, next_cursor: sign({ section: 'actions', after: placeOf(last, last.first_seen, prefix) }) }
    }
    if (data.length === limit) return { data, next_cursor: sign({ section: 'operations' }) }
  }
  const place = section === 'operations' ? after : undefined
  const left = limit - data.length
  const found = await search.operations({ ...request, after: place, limit: left + 1 })
  data.push(...(await showOperations(parts, found.slice(0, left), request)))
  const last = found[left - 1]
  if (found.length <= left || last === undefined) return { data, next_cursor: null }
  const next = placeOf(last, new Date(last.created_at), prefix)
  return { data, next_cursor: sign({ section: 'operations', after: next }) }
}

/** The operations. A run that the search finds comes before its newest operation. */
async function showOperations(
  { search }: Pick<AdminParts, 'search'>,
  operations: readonly FoundOperation[],
  { projectId, prefix }: Pick<PageRequest, 'projectId' | 'prefix'>,
): Promise<SearchResult[]> {
  const isFound = (runId: string) => normalizeSearchText(runId).startsWith(prefix)
  const runs = new Set(operations.flatMap(({ run_id }) => (run_id !== null && isFound(run_id) ? [run_id] : [])))
  const newest = await search.newestOfRuns(projectId, [...runs])
  return operations.flatMap(operation => {
    const { _id, run_id } = operation
    const shown = operationResult(operation)
    return run_id !== null && newest.has(_id) ? [runResult(run_id, operation), shown] : [shown]
  })
}

function placeOf(
  document: StoredDocument & { readonly search?: readonly string[] },
  at: Date,
  prefix: string,
): SearchPosition {
  return { key: foundKey(document, at, prefix) ?? '', at, id: document._id }
}

/** The results before all pages: by an id of Backstop, actors by their names, and customers. */
async function findFirst(
  parts: AdminParts,
  { q, ...request }: Pick<PageRequest, 'projectId' | 'q' | 'prefix' | 'now' | 'signal'>,
): Promise<SearchResult[]> {
  const [byId, actors, customers] = await Promise.all([
    findById(parts, request.projectId, q.trim()),
    findActors(parts.stores, request.projectId, request.prefix),
    findCustomers(parts, request),
  ])
  return [...byId, ...actors, ...customers]
}

/** The customers of the first actions that are found by an id, a name or an e-mail address of a customer. */
async function findCustomers(
  { search }: Pick<AdminParts, 'search'>,
  request: Pick<PageRequest, 'projectId' | 'prefix' | 'now' | 'signal'>,
): Promise<SearchResult[]> {
  const found = await search.actions({ ...request, after: undefined, limit: CUSTOMERS_AMONG })
  const customers = new Map<string, SearchResult>()
  for (const action of found) {
    const { id = null, name, email } = action.customer ?? {}
    // An id with an e-mail address is erased, and must not be in the address of a page.
    if (id === null || containsEmailAddress(id)) continue
    const keys = [normalizeSearchText(id), normalizeSearchText(email ?? ''), ...nameEndsOf(name)]
    const place = `${action.connection_id} ${id}`
    if (customers.has(place) || !keys.some(key => key.startsWith(request.prefix))) continue
    const title = `Customer ${[name, id].flatMap(text => (text == null ? [] : showableText(text))).join(', ')}`
    const { project_id, connection_id, first_seen_at: at } = action
    customers.set(place, { type: 'customer', id, title, project_id, connection_id, at })
  }
  return [...customers.values()].slice(0, MOST_CUSTOMERS)
}

/** Actors by the beginning of a word of their name, exact matches first, then the newest. A project has few, so all are read. */
async function findActors(
  { actors }: AdminParts['stores'],
  projectId: string,
  prefix: string,
): Promise<SearchResult[]> {
  const named = await actors.findAll({ project_id: projectId, removed_at: null })
  return named
    .map(actor => ({ actor, keys: nameEndsOf(actor.name).filter(key => key.startsWith(prefix)) }))
    .filter(({ keys }) => keys.length > 0)
    .toSorted(
      (a, b) =>
        Number(b.keys.includes(prefix)) - Number(a.keys.includes(prefix)) ||
        b.actor.created_at.getTime() - a.actor.created_at.getTime() ||
        (a.actor._id < b.actor._id ? 1 : -1),
    )
    .slice(0, MOST_ACTORS)
    .map(({ actor }) => actorResult(actor))
}

/** An actor by its id: as people named it, or else in the words of the provider about its newest action. */
async function findActor(
  { actors, actions }: AdminParts['stores'],
  own: { readonly _id: string; readonly project_id: string },
): Promise<SearchResult[]> {
  const named = await actors.find({ ...own, removed_at: null })
  if (named !== undefined) return [actorResult(named)]
  const where = { actor_id: own._id, project_id: own.project_id }
  const [newest] = await actions.page({ where, by: 'first_seen', limit: 1 })
  if (newest === undefined) return []
  const { label = null } = (newest.origin && actorOf(newest.origin)) ?? {}
  return [actorResult({ ...own, name: label, prefix: null, created_at: newest.first_seen })]
}

/** The resource with exactly this id of Backstop. */
async function findById({ stores, ledger }: AdminParts, projectId: string, id: string): Promise<SearchResult[]> {
  const own = { _id: id, project_id: projectId }
  const shown = (type: SearchResult['type'], title: string, connection_id: string | null, at: Date): SearchResult => ({
    type,
    id,
    title,
    project_id: projectId,
    connection_id,
    at: at.toISOString(),
  })
  /** @param show the result for a document; an unknown one has none */
  const resultOf = async <D>(found: Promise<D | undefined>, show: (document: D) => SearchResult) => {
    const document = await found
    return document === undefined ? [] : [show(document)]
  }
  switch (id.split('_')[0]) {
    case 'act':
      return resultOf(stores.actions.find(own), actionResult)
    case 'inc':
      return resultOf(stores.incidents.find(own), ({ summary, connection_id, opened }) =>
        shown('incident', summary, connection_id, opened),
      )
    case 'dlv':
      return resultOf(stores.deliveries.find(own), ({ event, state, created_at }) =>
        shown('delivery', `Delivery of ${event}: ${state}`, null, created_at),
      )
    case 'con':
      return resultOf(stores.connections.find(own), found => shown('connection', found.name, id, found.created_at))
    case 'chn':
      return resultOf(stores.channels.find(own), found => shown('channel', found.name, null, found.created_at))
    case 'acr':
      return findActor(stores, own)
    case 'op': {
      const found = await ledger.get(id)
      if (found?.project_id !== projectId) return []
      const { operation_id: _id, ...fields } = found
      return [operationResult({ _id, ...fields })]
    }
    default:
      return []
  }
}

export function actionResult(action: ActionDocument): SearchResult {
  const { _id, project_id, connection_id, subject, customer, verdict, first_seen_at } = action
  const whose = customer?.name == null ? '' : ` for ${showableText(customer.name)}`
  const title = `${describeChange(action)}${whose} on ${showableText(subject)}: ${verdict.replaceAll('_', ' ')}`
  return { type: 'action', id: _id, title, project_id, connection_id, at: first_seen_at }
}

type TitledActor = Pick<ActorDocument, '_id' | 'project_id' | 'name' | 'prefix' | 'created_at'>

function actorResult({ _id, project_id, name, prefix, created_at }: TitledActor): SearchResult {
  const title = `Actor ${showableText(name ?? prefix ?? _id)}`
  return { type: 'actor', id: _id, title, project_id, connection_id: null, at: created_at.toISOString() }
}

export function operationResult(operation: FoundOperation): SearchResult {
  const { _id, project_id, connection_id, subject, state, created_at } = operation
  const title = `Operation: ${describeChange(operation)} on ${showableText(subject)}, ${state.replaceAll('_', ' ')}`
  return { type: 'operation', id: _id, title, project_id, connection_id, at: new Date(created_at).toISOString() }
}

export function runResult(runId: string, { project_id }: FoundOperation): SearchResult {
  return { type: 'run', id: runId, title: `Run ${showableText(runId)}`, project_id, connection_id: null, at: null }
}

type Change = Parameters<typeof kindWords>[0] & Pick<ActionDocument, 'amount' | 'currency'>

function describeChange(change: Change): string {
  const words = kindWords(change)
  const money = formatMoney(change.amount, change.currency)
  const what = `${words.charAt(0).toUpperCase()}${words.slice(1)}`
  return money === null ? what : `${what} of ${money}`
}
