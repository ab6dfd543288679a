/**
 * Defines the routes that list or read resources as data. All lists are paged in the same way. Each shows only the project of the key,
 * unless the route has its own rule.
 */
import { ListQuery, listOf } from '@backstop/contracts'
import { z } from 'zod'
import type { NeededScope, Principal } from '../access/rules/access.ts'
import type { DocumentFilter, PageRequest, ReadCollection, StoredDocument } from '../store/collection.ts'
import { walkPages } from '../store/walk-pages.ts'
import { buildPage, type ListPosition, PositionCursor } from './cursor.ts'
import { findInProject, projectFilterOf } from './find-resource.ts'
import { defineRoute, type PathParams, type Route, type RouteRequest, versionedAnswer } from './route.ts'
import { FormatFilter, LIST_FORMATS, type ListFormat, streamList } from './whole-list/stream-list.ts'

type PageQuery = z.ZodObject<typeof ListQuery.shape>
type ReadRequest<P extends z.ZodType, Q extends z.ZodType> = Pick<
  RouteRequest<z.output<P>, z.output<Q>, undefined>,
  'params' | 'query' | 'principal' | 'now' | 'signal'
>
type ShowRequest = Pick<RouteRequest<never, never, never>, 'principal' | 'now' | 'signal'>

interface ReadInput<Path extends string, P, Q, S>
  extends Pick<Route, 'operationId' | 'tag' | 'summary' | 'description'> {
  readonly path: Path
  /** Default: `read`. */
  readonly scope?: NeededScope
  readonly params?: P
  readonly query?: Q
  /** Schema of one item. */
  readonly schema: S
}

/** Describes a list that is read page by page. */
export interface PagedInput<Path extends string, P extends z.ZodObject, Q extends PageQuery, S extends z.ZodType, Item>
  extends ReadInput<Path, P, Q, S> {
  /** Names the items in the plural: "actions". */
  readonly items: string
  /** True if the whole list can also be read as CSV or NDJSON. */
  readonly isStreamable?: boolean
  /** Reads the items after `place.after`, newest first. */
  page(
    request: ReadRequest<P, Q>,
    place: { readonly after: ListPosition | undefined; readonly limit: number },
  ): Promise<readonly Item[]>
  placeOf(item: Item): ListPosition
  show(item: Item, request: ShowRequest): z.input<S>
}

/** Defines a route for a list that is read page by page. */
export function pagedRoute<
  const Path extends string,
  S extends z.ZodType,
  Item,
  P extends z.ZodObject = PathParams<Path>,
  Q extends PageQuery = PageQuery,
>({ items, schema, page, placeOf, show, isStreamable = false, ...input }: PagedInput<Path, P, Q, S, Item>): Route {
  const asked = (input.query ?? ListQuery) as Q
  const query = isStreamable ? (asked.extend({ format: FormatFilter }) as unknown as Q) : asked
  return defineRoute({
    ...input,
    method: 'get',
    scope: input.scope ?? 'read',
    query,
    answers: {
      200: {
        description: isStreamable ? `A page of ${items}, or all of them by \`format\`` : `A page of ${items}`,
        schema: listOf(schema),
        ...(isStreamable ? { otherMediaTypes: Object.values(LIST_FORMATS) } : {}),
      },
    },
    refusals: 'project_id' in query.shape ? ['not_found'] : [],
    async handle(request) {
      const { cursor, limit, format: named } = request.query as z.output<PageQuery> & { readonly format?: string }
      const after = request.cursors.verify(PositionCursor, cursor)
      const format = isStreamable ? chooseFormat(named, request) : undefined
      if (format === undefined) {
        const found = await page(request, { after, limit: limit + 1 })
        const signPlace = (item: Item) => request.cursors.sign(PositionCursor, placeOf(item))
        return { status: 200, body: buildPage(found, limit, signPlace, item => show(item, request)) }
      }
      const { signal } = request
      let principal: Principal | undefined
      const walk = walkPages<Item, ListPosition>({
        after,
        size: STREAMED_PAGE,
        signal,
        async read(place, limit) {
          // A key that was revoked in the meantime reads no further page, and a person without a role nothing more of its project.
          principal = principal === undefined ? request.principal : await request.authorize()
          return page({ ...request, principal }, { after: place, limit })
        },
        placeOf,
      })
      const rowsOf = (found: readonly Item[] | undefined) =>
        (found ?? []).map(item => show(item, { ...request, principal: principal ?? request.principal }) as Row)
      // The first page is read before the answer begins, so that an error is still answered as a problem document.
      const first = await walk.next()
      async function* pages() {
        yield rowsOf(first.value)
        for await (const found of walk) yield rowsOf(found)
      }
      const columns = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
      const file = `${input.path.split('/').at(-1)}.${format}`
      return {
        status: 200,
        headers: {
          'content-type': format === 'csv' ? `${LIST_FORMATS.csv}; charset=utf-8` : LIST_FORMATS.ndjson,
          'content-disposition': `attachment; filename="${file}"`,
        },
        stream: out => streamList(out, { format, columns, pages: pages(), signal }),
      }
    },
  })
}

type Row = Readonly<Record<string, unknown>>

/** Items read at once for a stream. */
const STREAMED_PAGE = 200

/** The form of a whole list that the query or else the Accept header names; undefined for a page of JSON. */
function chooseFormat(
  named: string | undefined,
  { accepts }: Pick<RouteRequest<never, never, never>, 'accepts'>,
): ListFormat | undefined {
  if (named === 'csv' || named === 'ndjson') return named
  if (named !== undefined) return undefined
  // Without a preference, the first type counts.
  const type = accepts(['application/json', ...Object.values(LIST_FORMATS)])
  return type === LIST_FORMATS.csv ? 'csv' : type === LIST_FORMATS.ndjson ? 'ndjson' : undefined
}

/** What the list of a resource and the route of one item have in common. */
interface DocumentInput<D extends StoredDocument, B extends StoredDocument, Shown> {
  readonly collection: ReadCollection<D>
  /** A second collection. Its document with the id of `idBeside` is shown together with the first. */
  readonly beside?: Pick<ReadCollection<B>, 'findAll'> | undefined
  /** Default: the id of the first document. */
  readonly idBeside?: ((document: D, now: Date) => string) | undefined
  show(document: D, request: ShowRequest, beside: B | undefined): Shown
}

/** Describes a list of documents of one collection. */
export interface ListInput<
  Path extends string,
  P extends z.ZodObject,
  Q extends PageQuery,
  S extends z.ZodType,
  D extends StoredDocument,
  B extends StoredDocument,
> extends Omit<PagedInput<Path, P, Q, S, D>, 'page' | 'placeOf' | 'show'>,
    DocumentInput<D, B, z.input<S>> {
  /** The date that the list is sorted by. */
  readonly sortedBy: keyof D & string
  /**
   * The filter for the documents that the key may see. Default: the project in the query, or the key's own project.
   * @throws AppError `not_found` if the query names something of another project
   */
  narrow?(request: ReadRequest<P, Q>): DocumentFilter<D> | Promise<DocumentFilter<D>>
  filter?(query: z.output<Q>): DocumentFilter<D>
  window?(query: z.output<Q>): PageRequest<D>['window']
}

/** Defines a route that lists the documents of a collection. */
export function listRoute<
  const Path extends string,
  S extends z.ZodType,
  D extends StoredDocument,
  B extends StoredDocument = StoredDocument,
  P extends z.ZodObject = PathParams<Path>,
  Q extends PageQuery = PageQuery,
>({ collection, sortedBy, narrow, filter, window, show, ...input }: ListInput<Path, P, Q, S, D, B>): Route {
  return pagedRoute({
    ...input,
    async page(request: ReadRequest<P, Q>, place) {
      const { query, principal } = request
      const { project_id: asked } = query as { readonly project_id?: string }
      const own = narrow === undefined ? projectFilterOf(principal, asked) : await narrow(request)
      const where = { ...filter?.(query), ...own } as DocumentFilter<D>
      const documents = await collection.page({ where, by: sortedBy, window: window?.(query), ...place })
      return joinBeside(documents, input, request.now)
    },
    placeOf: ({ document }) => ({ at: document[sortedBy] as Date, id: document._id }),
    show: ({ document, other }, request) => show(document, request, other),
  })
}

/** Reads the documents that are shown together with these. */
async function joinBeside<D extends StoredDocument, B extends StoredDocument>(
  documents: readonly D[],
  { beside, idBeside = ({ _id }) => _id }: Pick<DocumentInput<D, B, never>, 'beside' | 'idBeside'>,
  now: Date,
): Promise<{ readonly document: D; readonly other: B | undefined }[]> {
  const _id = { in: [...new Set(documents.map(document => idBeside(document, now)))] }
  const others = (await beside?.findAll({ _id } as unknown as DocumentFilter<B>)) ?? []
  const otherOf = new Map(others.map(other => [other._id, other]))
  return documents.map(document => ({ document, other: otherOf.get(idBeside(document, now)) }))
}

/** The window of a list whose query has `from` and `to`. */
export function windowOf({
  from,
  to,
}: {
  readonly from?: string | undefined
  readonly to?: string | undefined
}): NonNullable<PageRequest<never>['window']> {
  const dateOf = (time: string | undefined) => (time === undefined ? undefined : new Date(time))
  return { from: dateOf(from), before: dateOf(to) }
}

/** True if a time is in the window of a list. */
export function isWithin({ from, before }: NonNullable<PageRequest<never>['window']>, at: Date): boolean {
  return (from === undefined || at >= from) && (before === undefined || at < before)
}

/** Describes a route that reads one item. */
export interface ItemInput<Path extends string, P extends z.ZodObject, Q extends z.ZodObject, S extends z.ZodType, Item>
  extends ReadInput<Path, P, Q, S> {
  /** Names the item: "action". */
  readonly item: string
  /** True if the answer has an ETag, computed from the `version` of the item. */
  readonly isVersioned?: z.input<S> extends { readonly version: number } ? boolean : never
  /** @throws AppError `not_found`, also for an item of another project */
  find(request: ReadRequest<P, Q>): Promise<Item>
  show(item: Item, request: ShowRequest): z.input<S> | Promise<z.input<S>>
}

/** Defines a route that reads one item. */
export function itemRoute<
  const Path extends string,
  S extends z.ZodType,
  Item,
  P extends z.ZodObject = PathParams<Path>,
  Q extends z.ZodObject = z.ZodObject<Record<never, never>>,
>({ item, schema, isVersioned, find, show, ...input }: ItemInput<Path, P, Q, S, Item>): Route {
  const description = isVersioned ? `The ${item}; its version is the ETag` : `The ${item}`
  return defineRoute({
    ...input,
    method: 'get',
    scope: input.scope ?? 'read',
    answers: { 200: { description, schema } },
    async handle(request) {
      const body = await show(await find(request), request)
      return isVersioned ? versionedAnswer(200, body as { version: number }) : { status: 200, body }
    },
  })
}

/** Defines a route that reads one document of a collection. Its path is that of the list and the id. */
export function getRoute<
  const Path extends string,
  S extends z.ZodType,
  D extends StoredDocument & { readonly project_id: string | null },
  B extends StoredDocument = StoredDocument,
>({
  collection,
  beside,
  idBeside,
  show,
  ...input
}: Omit<ItemInput<Path, never, never, S, D>, 'find' | 'show' | 'params' | 'query'> &
  DocumentInput<D, B, z.input<S> | Promise<z.input<S>>>): Route {
  return itemRoute({
    ...input,
    path: `${input.path as string}/{id}`,
    find: ({ params, principal }) => findInProject(collection, principal, input.item, params.id),
    async show(document, request) {
      const [joined] = await joinBeside([document], { beside, idBeside }, request.now)
      return show(document, request, joined?.other)
    },
  })
}
