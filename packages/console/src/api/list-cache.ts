/** Changes lists in the query cache: by live events, and by reading them again without reading hundreds of rows. */
import type { Page } from '@backstop/client'
import type { InfiniteData, Query, QueryClient, QueryFilters } from '@tanstack/react-query'

/** The query of a list: the parameters of its GET, without cursor and limit. */
export type ListQuery = Readonly<Record<string, string | number | undefined>>

/** A list of the management API, read page by page and kept fresh by live events. */
export interface ListDefinition<T, Q extends ListQuery> {
  /** The first part of its query keys, for example `incidents`. */
  readonly resource: string
  read(query: Q & { cursor?: string; limit: number }, options: { signal: AbortSignal }): Promise<Page<T>>
  idOf(item: T): string
  /** Whether an item of a live event belongs to the list with this query. Without it, new items appear when the list is read again. */
  matches?(item: T, query: Q): boolean
  /** What replaces an item of a list after a live event; the item of the event by default. */
  merge?(shown: T, item: T): T
  /** A list that is shown again is read again if it is older; 30 seconds by default. */
  readonly staleMs?: number
  /** A list without live events is read again after this time while it is shown. A long list is not. */
  readonly repeatMs?: number
}

export type Pages<T> = InfiniteData<Page<T>, string | undefined>

export const PAGE_SIZE = 50
/** With more arrivals than this, the list is read again instead of keeping them. */
export const MOST_ARRIVALS = 200
/** A longer list is read again only at its top: its pages are read one after another, so each would delay the next. */
const MOST_PAGES_READ_AGAIN = 3

export function listKey(resource: string, query: ListQuery = {}): readonly unknown[] {
  return [resource, 'list', query]
}

export function arrivalsKey(resource: string, query: ListQuery): readonly unknown[] {
  return [resource, 'arrivals', query]
}

export function isShort({ state: { data } }: { state: { data: unknown } }): boolean {
  const pages = (data as { pages?: unknown } | undefined)?.pages
  return !Array.isArray(pages) || pages.length <= MOST_PAGES_READ_AGAIN
}

export function prepend<T>(pages: Pages<T> | undefined, items: readonly T[]): Pages<T> | undefined {
  const [first, ...rest] = pages?.pages ?? []
  if (pages === undefined || first === undefined) return pages
  return { ...pages, pages: [{ ...first, data: [...items, ...first.data] }, ...rest] }
}

/** What the resources of live events have in common: some have a version, and a deleted one says when. */
interface Versioned {
  readonly version?: number
  readonly deleted_at?: string | null
}

/** Writes an item of a live event into every list that is in the cache: in its place, or into its arrivals. */
export function mergeIntoLists<T, Q extends ListQuery>(
  queryClient: QueryClient,
  definition: ListDefinition<T, Q>,
  item: T,
): void {
  for (const query of queryClient.getQueryCache().findAll({ queryKey: [definition.resource, 'list'] })) {
    const merge = () => mergeIntoList(queryClient, definition, query.queryKey, item)
    merge()
    // The answer to a read in flight may be older than the event, and replaces what was merged before it.
    if (query.state.fetchStatus === 'fetching') void query.promise?.then(merge, () => {})
  }
}

function mergeIntoList<T, Q extends ListQuery>(
  queryClient: QueryClient,
  { resource, idOf, matches, merge }: ListDefinition<T, Q>,
  key: readonly unknown[],
  item: T,
): void {
  const pages = queryClient.getQueryData<Pages<T>>(key)
  if (pages === undefined) return
  const query = key[2] as Q
  const id = idOf(item)
  const isOther = (other: T) => idOf(other) !== id
  const isDeleted = ((item as Versioned).deleted_at ?? null) !== null
  const shown = pages.pages.flatMap(page => page.data).find(other => !isOther(other))
  if (isDeleted) {
    changePages<T>(queryClient, key, data => data.filter(isOther))
    queryClient.setQueryData<T[]>(arrivalsKey(resource, query), waiting => waiting?.filter(isOther))
  } else if (shown !== undefined) {
    const merged = merge?.(shown, item) ?? item
    if (isNewer(item, shown)) changePages<T>(queryClient, key, data => data.map(it => (isOther(it) ? it : merged)))
  } else if (matches?.(item, query)) {
    queryClient.setQueryData<T[]>(arrivalsKey(resource, query), (waiting = []) =>
      [item, ...waiting.filter(isOther)].slice(0, MOST_ARRIVALS),
    )
  }
}

/** An event may repeat a version that the page knows, or be older than the answer to a write. */
function isNewer(item: unknown, known: unknown): boolean {
  const [version, knownVersion] = [item as Versioned, known as Versioned].map(each => each.version)
  return version === undefined || knownVersion === undefined || version > knownVersion
}

function changePages<T>(queryClient: QueryClient, key: readonly unknown[], change: (data: T[]) => T[]): void {
  queryClient.setQueryData<Pages<T>>(
    key,
    old => old && { ...old, pages: old.pages.map(page => ({ ...page, data: change(page.data) })) },
  )
}

/**
 * Reads everything about a resource again, because changes may be missing. A list begins at its top again: rows further down may be
 * wrong, and no later event corrects them.
 */
export function readListsAgain(queryClient: QueryClient, resource: string): void {
  for (const [key] of queryClient.getQueriesData<Pages<unknown>>({ queryKey: [resource, 'list'] })) {
    queryClient.setQueryData<Pages<unknown>>(
      key,
      old => old && { pages: old.pages.slice(0, 1), pageParams: old.pageParams.slice(0, 1) },
    )
  }
  readAgain(queryClient, { queryKey: [resource] })
}

/**
 * Reads queries again after something changed. Of a long list only the top is read.
 * @param filters as of `invalidateQueries`
 */
export function readAgain(queryClient: QueryClient, filters: QueryFilters): void {
  for (const query of queryClient.getQueryCache().findAll(filters)) {
    const again = () => void queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true })
    const isFirstRead = query.state.fetchStatus === 'fetching' && query.state.data === undefined
    // TanStack Query does not restart a first read, and its answer may be older than the change.
    if (isFirstRead) void query.promise?.then(again, () => {})
    else if (query.isActive() && !isShort(query)) void readHeadAgain(queryClient, query)
    else again()
  }
}

/** Reads the first page of a long list and puts it in place of the rows that it replaces. */
export async function readHeadAgain(queryClient: QueryClient, list: Query): Promise<void> {
  const definition = list.meta?.definition as ListDefinition<unknown, ListQuery>
  const { resource, idOf, read } = definition
  const query = list.queryKey[2] as ListQuery
  try {
    const head = await queryClient.fetchQuery({
      queryKey: [resource, 'head', query],
      queryFn: ({ signal }) => read({ ...query, limit: PAGE_SIZE }, { signal }),
      staleTime: 0,
      gcTime: 0,
    })
    // The next page in flight would replace the pages by those from before it.
    if (list.state.fetchStatus === 'fetching') await list.promise
    queryClient.setQueryData<Pages<unknown>>(list.queryKey, old => old && withHead(old, head, idOf))
  } catch {
    // The rows stay as they are; the next change tries again.
  }
}

/** Replaces the top of a list by its first page, which was read later. Without a row in common, the list begins again with that page. */
export function withHead<T>(pages: Pages<T>, head: Page<T>, idOf: (item: T) => string): Pages<T> {
  const old = pages.pages.flatMap(page => page.data)
  const known = new Map(old.map(item => [idOf(item), item]))
  const ids = head.data.map(idOf)
  const lastCommon = ids.findLast(id => known.has(id))
  if (lastCommon === undefined || head.next_cursor === null)
    return { pages: [head], pageParams: pages.pageParams.slice(0, 1) }
  const newest = head.data.map(item => {
    const other = known.get(idOf(item))
    return other === undefined || isNewer(item, other) ? item : other
  })
  // Rows between the rows of the head are not in the list any more.
  const below = new Set(old.slice(old.findIndex(item => idOf(item) === lastCommon) + 1).map(idOf))
  for (const id of ids) below.delete(id)
  const rest = pages.pages.map(page => ({ ...page, data: page.data.filter(item => below.has(idOf(item))) }))
  return { ...pages, pages: rest.map((page, at) => (at === 0 ? { ...page, data: [...newest, ...page.data] } : page)) }
}
