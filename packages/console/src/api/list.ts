import type { Page } from '@backstop/client'
import {
  hashKey,
  infiniteQueryOptions,
  type QueryClient,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect } from 'react'
import {
  arrivalsKey,
  isShort,
  type ListDefinition,
  type ListQuery,
  listKey,
  MOST_ARRIVALS,
  PAGE_SIZE,
  type Pages,
  prepend,
  readHeadAgain,
} from './list-cache.ts'
import { repeatAfterMs } from './repeat-after.ts'

/** What DataList shows. */
export interface ListState<T> {
  readonly items: readonly T[]
  readonly isLoading: boolean
  readonly error: Error | null
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  /** Why the next page could not be read. It is read again only by `loadMore`. */
  readonly moreError: Error | null
  /** Items that arrived by live events and are not shown yet, newest first. */
  readonly arrivals: readonly T[]
  idOf(item: T): string
  loadMore(): void
  retry(): void
  showArrivals(): void
}

/** A list that was read as a whole from elsewhere. */
export function wholeList<T>(items: readonly T[] | undefined, idOf: (item: T) => string): ListState<T> {
  const [nothing, none] = [() => {}, { hasMore: false, isLoadingMore: false, moreError: null, arrivals: [] }]
  const calls = { loadMore: nothing, retry: nothing, showArrivals: nothing }
  return { items: items ?? [], isLoading: items === undefined, error: null, idOf, ...none, ...calls }
}

const STALE_MS = 30_000

function pagesQuery<T, Q extends ListQuery>(definition: ListDefinition<T, Q>, query: Q) {
  return infiniteQueryOptions({
    queryKey: listKey(definition.resource, query),
    meta: { definition },
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === undefined ? {} : { cursor: pageParam }
      return definition.read({ ...query, ...cursor, limit: PAGE_SIZE }, { signal })
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: Page<T>) => page.next_cursor ?? undefined,
    staleTime: definition.staleMs ?? STALE_MS,
  })
}

/** Reads the first page of a list that will probably be shown, unless it is in the cache. */
export function readAhead<T, Q extends ListQuery>(
  queryClient: QueryClient,
  definition: ListDefinition<T, Q>,
  query: Q,
): void {
  void queryClient.prefetchInfiniteQuery(pagesQuery(definition, query))
}

/** Reads a list. More pages are read by `loadMore`. */
export function useList<T, Q extends ListQuery>(definition: ListDefinition<T, Q>, query: Q): ListState<T> {
  const queryClient = useQueryClient()
  const { resource, idOf, staleMs = STALE_MS, repeatMs = false } = definition
  const queryKey = listKey(resource, query)
  const { data, error, isPending, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, refetch } =
    useInfiniteQuery({
      ...pagesQuery(definition, query),
      refetchOnWindowFocus: isShort,
      refetchOnReconnect: isShort,
      refetchOnMount: isShort,
      // Rows that are shown stay when further ones could not be read. Those are asked for by a button.
      refetchInterval: shown =>
        shown.state.data === undefined ? repeatAfterMs(shown.state.error) : isShort(shown) && repeatMs,
    })
  const arrivals = useQuery({
    queryKey: arrivalsKey(resource, query),
    queryFn: () => [] as T[],
    initialData: [] as T[],
    staleTime: Number.POSITIVE_INFINITY,
  })
  useReadHeadOnMount(queryKey, staleMs)
  const items = data?.pages.flatMap(page => page.data) ?? []
  const waiting = withoutShown(arrivals.data, items, idOf)
  return {
    items,
    isLoading: isPending,
    error: data === undefined ? error : null,
    hasMore: hasNextPage,
    isLoadingMore: isFetchingNextPage,
    moreError: isFetchNextPageError ? error : null,
    arrivals: waiting,
    idOf,
    loadMore: () => void fetchNextPage(),
    retry: () => void refetch(),
    showArrivals() {
      if (arrivals.data.length >= MOST_ARRIVALS) {
        void queryClient.resetQueries({ queryKey, exact: true })
        queryClient.setQueryData<T[]>(arrivalsKey(resource, query), [])
        return
      }
      queryClient.setQueryData<Pages<T>>(queryKey, pages => prepend(pages, waiting))
      queryClient.setQueryData<T[]>(arrivalsKey(resource, query), [])
    },
  }
}

/** A long list is not read again as a whole when it is shown again, only its newest rows. */
function useReadHeadOnMount(queryKey: readonly unknown[], staleMs: number): void {
  const queryClient = useQueryClient()
  const hash = hashKey(queryKey)
  useEffect(() => {
    const query = queryClient.getQueryCache().get(hash)
    if (query !== undefined && !isShort(query) && query.isStaleByTime(staleMs)) void readHeadAgain(queryClient, query)
  }, [queryClient, hash, staleMs])
}

/** A list that was read again may have an arrival already. */
function withoutShown<T>(arrivals: readonly T[], items: readonly T[], idOf: (item: T) => string): readonly T[] {
  if (arrivals.length === 0) return arrivals
  const shown = new Set(items.map(idOf))
  return arrivals.filter(item => !shown.has(idOf(item)))
}
