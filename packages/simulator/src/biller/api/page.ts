/** Lists of the biller's API: sorted by a time, with an opaque offset. */
import { wrongValue } from '../refusal.ts'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 100

/**
 * One page of a list.
 * @param oldestFirst all items that match the filters, in the order of their creation
 * @param sortable the fields by which the list can be sorted. By default it is sorted by the first field, newest first.
 * @param shown converts an item to the form of the list, e.g. `{transaction: {…}}`
 * @throws BillerRefusal 400 for an invalid parameter
 */
export function pageOf<T extends { id: string }>(
  oldestFirst: readonly T[],
  query: URLSearchParams,
  sortable: readonly string[],
  shown: (item: T) => object,
): { list: object[]; next_offset?: string } {
  const limit = limitIn(query)
  const sorted = sort(oldestFirst, query, sortable)
  const from = positionOf(sorted, query.get('offset'))
  const page = sorted.slice(from, from + limit)
  const last = page.at(-1)
  const hasMore = sorted.length > from + limit && last !== undefined
  return { list: page.map(shown), ...(hasMore ? { next_offset: offsetAfter(last) } : {}) }
}

function sort<T extends object>(
  items: readonly T[],
  query: URLSearchParams,
  sortable: readonly string[],
): readonly T[] {
  const [standard = ''] = sortable
  const ascending = query.get('sort_by[asc]')
  const member = ascending ?? query.get('sort_by[desc]') ?? standard
  if (!sortable.includes(member)) throw wrongValue('sort_by', `cannot sort by ${member}`)
  const sortValueOf = (item: T) => Number(Reflect.get(item, member) ?? 0)
  // A stable sort, reversed afterwards, so that items with the same time are newest first.
  const sorted = items.toSorted((one, other) => sortValueOf(one) - sortValueOf(other))
  return ascending === null ? sorted.reverse() : sorted
}

/** The offset of the next page. Like the real offset it is a list in brackets. Callers must not interpret it. */
function offsetAfter(last: { id: string }): string {
  return JSON.stringify([Buffer.from(last.id).toString('base64url')])
}

function idIn(offset: string): string {
  return Buffer.from(offset.replaceAll(/[^\w-]/g, ''), 'base64url').toString('utf8')
}

function positionOf<T extends { id: string }>(sorted: readonly T[], offset: string | null): number {
  if (offset === null) return 0
  const id = idIn(offset)
  const position = sorted.findIndex(item => item.id === id)
  if (position < 0) throw wrongValue('offset', 'invalid value')
  return position + 1
}

function limitIn(query: URLSearchParams): number {
  const text = query.get('limit')
  if (text === null) return DEFAULT_LIMIT
  const limit = Number(text)
  if (!/^\d{1,4}$/.test(text) || limit < 1 || limit > MAX_LIMIT) {
    throw wrongValue('limit', `should be between 1 and ${MAX_LIMIT}`)
  }
  return limit
}
