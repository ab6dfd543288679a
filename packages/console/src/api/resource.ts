/** How the modules of `api/` describe what the management API serves. */
import type { Page } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import type { ListDefinition, ListQuery } from './list-cache.ts'

interface Signal {
  readonly signal: AbortSignal
}
/** The parameters of a GET without those that pages and downloads set. */
type Filter<P> = { [K in keyof P as Exclude<K, 'limit' | 'cursor' | 'format'>]: P[K] }

/**
 * A list of the management API.
 * @param resource the first part of its query keys, for example `incidents`
 * @param read the call of the client
 */
export function defineList<T, P extends ListQuery>(
  resource: string,
  read: (query?: P, options?: Signal) => Promise<Page<T>>,
  idOf: (item: T) => string,
  more: Pick<ListDefinition<T, Filter<P>>, 'matches' | 'merge' | 'staleMs' | 'repeatMs'> = {},
): ListDefinition<T, Filter<P>> {
  return { resource, read: read as never, idOf, ...more }
}

/** The query of one item of a resource, by its id. */
export function defineItem<T>(resource: string, read: (id: string, options: Signal) => Promise<T>) {
  return (id: string) =>
    queryOptions({ queryKey: [resource, 'one', id], queryFn: ({ signal }) => read(id, { signal }) })
}

/** True if every filter of a query that is set equals the field of the item. */
export function hasFields(item: object, filters: object): boolean {
  return Object.entries(filters).every(
    ([field, value]) => value === undefined || (item as Record<string, unknown>)[field] === value,
  )
}

/** The items of a list of the API, read page by page. @param most further items are not read */
export async function allOf<T>(list: AsyncIterable<T>, most = Number.POSITIVE_INFINITY): Promise<T[]> {
  const items: T[] = []
  for await (const item of list) {
    items.push(item)
    if (items.length >= most) break
  }
  return items
}
