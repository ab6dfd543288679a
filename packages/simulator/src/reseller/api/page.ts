/** Lists of the reseller's API: ordered by id, with a cursor and a link to the next page. */
import type { ApiCall } from '../../api/provider-api.ts'
import { invalidField } from '../refusal.ts'

export interface PageRules {
  /** Default page size. */
  readonly perPage: number
  /** The largest page size. Larger requested sizes are reduced without an error. */
  readonly maxPerPage: number
  readonly order: 'ASC' | 'DESC'
}

/**
 * One page of a list: `data` and `meta.pagination`.
 * @param oldestFirst all items that match the filters; ids sort by the time of creation
 * @throws ResellerRefusal 400 for an invalid parameter
 */
export function pageOf<T>(
  oldestFirst: readonly T[],
  idOf: (item: T) => string,
  { query, path, baseUrl }: ApiCall,
  rules: PageRules,
): { data: T[]; meta: { pagination: object } } {
  const perPage = Math.min(positiveParameter(query, 'per_page') ?? rules.perPage, rules.maxPerPage)
  const ordered = directionOf(query, rules) === 'ASC' ? oldestFirst : oldestFirst.toReversed()
  const after = query.get('after')
  const rest = after === null ? ordered : ordered.slice(positionAfter(ordered, idOf, after))
  const data = rest.slice(0, perPage)
  const next = new URL(`${baseUrl}${path}?${query}`)
  const last = data.at(-1)
  // The last page has a link to a next page too, like that of the real API.
  if (last !== undefined) next.searchParams.set('after', idOf(last))
  const pagination = {
    per_page: perPage,
    next: next.href,
    has_more: rest.length > perPage,
    estimated_total: ordered.length,
  }
  return { data, meta: { pagination } }
}

function directionOf(query: URLSearchParams, rules: PageRules): 'ASC' | 'DESC' {
  const wanted = query.get('order_by')
  if (wanted === null) return rules.order
  const direction = /^id\[(ASC|DESC)\]$/.exec(wanted)?.[1]
  if (direction !== 'ASC' && direction !== 'DESC') throw invalidField('order_by', `invalid order by: ${wanted}`)
  return direction
}

function positionAfter<T>(ordered: readonly T[], idOf: (item: T) => string, after: string): number {
  const position = ordered.findIndex(item => idOf(item) === after)
  if (position < 0) throw invalidField('after', `invalid cursor: ${after}`)
  return position + 1
}

function positiveParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^[1-9]\d{0,5}$/.test(text)) throw invalidField(name, 'must be a number greater than 0')
  return Number(text)
}
