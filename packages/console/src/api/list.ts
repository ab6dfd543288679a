import type { Page } from '@backstop/client'
import { type InfiniteData, type QueryClient, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'

/** The query of a list: the parameters of its GET, without cursor and limit. */
export type ListQuery = Readonly<Record<string, string | number | undefined>>

/** A list of the management API, read page by page and kept fresh by live events. */
export interface ListDefinition<T, Q extends ListQuery> {
  /** The first part of its query keys, for example `incidents`. */
  readonly resource: string
  read(query: Q & { cursor?: string; limit: number }, signal: AbortSignal): Promise<Page<T>>
  idOf(item: T): string
  /** Whether an item of a live event belongs to the list with this query. Without it, new items appear when the list is read again. */
  matches?(item: T, query: Q): boolean
}

export function defineList<T, Q extends ListQuery>(definition: ListDefinition<T, Q>): ListDefinition<T, Q> {
  return definition
}

/** What DataList shows. */
export interface ListState<T> {
  readonly items: readonly T[]
  readonly isLoading: boolean
  readonly error: Error | null
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  /** Items that arrived by live events and are not shown yet, newest first. */
  readonly arrivals: readonly T[]
  idOf(item: T): string
  loadMore(): void
  retry(): void
  showArrivals(): void
}

const PAGE_SIZE = 50
/** A longer list is not read again page by page: live events keep it fresh, and a reload begins at its top. */
const MOST_PAGES_READ_AGAIN = 3
/** With more arrivals than this, the list is read again instead of keeping them. */
const MOST_ARRIVALS = 200
type Pages<T> = InfiniteData<Page<T>, string | undefined>

export function listKey(resource: string, query: ListQuery = {}): readonly unknown[] {
  return [resource, 'list', query]
}

function arrivalsKey(resource: string, query: ListQuery): readonly unknown[] {
  return [resource, 'arrivals', query]
}

/** Reads a list. More pages are read by `loadMore`. */
export function useList<T, Q extends ListQuery>(definition: ListDefinition<T, Q>, query: Q): ListState<T> {
  const queryClient = useQueryClient()
  const { resource, idOf } = definition
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: listKey(resource, query),
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === undefined ? {} : { cursor: pageParam }
      return definition.read({ ...query, ...cursor, limit: PAGE_SIZE }, signal)
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: Page<T>) => page.next_cursor ?? undefined,
    refetchOnWindowFocus: isShort,
    refetchOnReconnect: isShort,
    refetchOnMount: isShort,
  })
  const arrivals = useQuery({
    queryKey: arrivalsKey(resource, query),
    queryFn: () => [] as T[],
    initialData: [] as T[],
    staleTime: Number.POSITIVE_INFINITY,
  })
  return {
    items: data?.pages.flatMap(page => page.data) ?? [],
    isLoading: isPending,
    error: data === undefined ? error : null,
    hasMore: hasNextPage,
    isLoadingMore: isFetchingNextPage,
    arrivals: arrivals.data,
    idOf,
    loadMore: () => void fetchNextPage(),
    retry: () => void refetch(),
    showArrivals() {
      if (arrivals.data.length >= MOST_ARRIVALS) {
        void queryClient.resetQueries({ queryKey: listKey(resource, query), exact: true })
        queryClient.setQueryData<T[]>(arrivalsKey(resource, query), [])
        return
      }
      queryClient.setQueryData<Pages<T>>(listKey(resource, query), pages => prepend(pages, arrivals.data, idOf))
      queryClient.setQueryData<T[]>(arrivalsKey(resource, query), [])
    },
  }
}

function isShort({ state: { data } }: { state: { data: { pages: unknown[] } | undefined } }): boolean {
  return data === undefined || data.pages.length <= MOST_PAGES_READ_AGAIN
}

function prepend<T>(pages: Pages<T> | undefined, items: readonly T[], idOf: (item: T) => string): Pages<T> | undefined {
  const [first, ...rest] = pages?.pages ?? []
  if (pages === undefined || first === undefined) return pages
  const known = new Set(items.map(idOf))
  const data = [...items, ...first.data.filter(item => !known.has(idOf(item)))]
  return { ...pages, pages: [{ ...first, data }, ...rest] }
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
  const { resource, idOf, matches } = definition
  const id = idOf(item)
  const isOther = (other: T) => idOf(other) !== id
  const isDeleted = ((item as Versioned).deleted_at ?? null) !== null
  for (const [key, pages] of queryClient.getQueriesData<Pages<T>>({ queryKey: [resource, 'list'] })) {
    if (pages === undefined) continue
    const query = key[2] as Q
    const shown = pages.pages.flatMap(page => page.data).find(other => !isOther(other))
    if (isDeleted) {
      changePages<T>(queryClient, key, data => data.filter(isOther))
      queryClient.setQueryData<T[]>(arrivalsKey(resource, query), waiting => waiting?.filter(isOther))
    } else if (shown !== undefined) {
      if (isNewer(item as Versioned, shown as Versioned))
        changePages<T>(queryClient, key, data => data.map(it => (isOther(it) ? it : item)))
    } else if (matches?.(item, query)) {
      queryClient.setQueryData<T[]>(arrivalsKey(resource, query), (waiting = []) =>
        [item, ...waiting.filter(isOther)].slice(0, MOST_ARRIVALS),
      )
    }
  }
}

/** An event may repeat a version that the page knows, or be older than the answer to a write. */
function isNewer(item: Versioned, known: Versioned): boolean {
  return item.version === undefined || known.version === undefined || item.version > known.version
}

function changePages<T>(queryClient: QueryClient, key: readonly unknown[], change: (data: T[]) => T[]): void {
  queryClient.setQueryData<Pages<T>>(
    key,
    old => old && { ...old, pages: old.pages.map(page => ({ ...page, data: change(page.data) })) },
  )
}

/** Reads the lists of a resource again from their top, so that a long list needs one request and not one for each page. */
export function readListsAgain(queryClient: QueryClient, resource: string): void {
  for (const [key] of queryClient.getQueriesData<Pages<unknown>>({ queryKey: [resource, 'list'] })) {
    queryClient.setQueryData<Pages<unknown>>(
      key,
      old => old && { pages: old.pages.slice(0, 1), pageParams: old.pageParams.slice(0, 1) },
    )
  }
  void queryClient.invalidateQueries({ queryKey: [resource] })
}
