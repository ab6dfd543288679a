/** Lists of the processor's API: newest first, with a cursor, at most 100 items per page. */
import { invalidRequest, noSuch } from '../refusal.ts'

export interface Page<T> {
  object: 'list'
  data: T[]
  has_more: boolean
  url: string
}

/** An object that can be listed. */
export interface Listed {
  id: string
  object: string
  created: number
}

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 100
const COMPARISONS = {
  gt: (created: number, bound: number) => created > bound,
  gte: (created: number, bound: number) => created >= bound,
  lt: (created: number, bound: number) => created < bound,
  lte: (created: number, bound: number) => created <= bound,
} as const

/**
 * One page of a list.
 * @param oldestFirst all items in the order of their creation
 * @param query limit, starting_after, ending_before, created or created[gt|gte|lt|lte]; other names belong to the caller
 * @throws ProcessorRefusal 400 for an invalid parameter
 */
export function pageOf<T extends Listed>(oldestFirst: readonly T[], query: URLSearchParams, url: string): Page<T> {
  const limit = integerParameter(query, 'limit') ?? DEFAULT_LIMIT
  if (limit < 1)
    throw invalidRequest('This value must be greater than or equal to 1.', 'limit', 'parameter_invalid_integer')
  if (limit > MAX_LIMIT) {
    throw invalidRequest(`This value must be less than or equal to ${MAX_LIMIT}.`, 'limit', 'parameter_invalid_integer')
  }
  const after = query.get('starting_after')
  const before = query.get('ending_before')
  if (after !== null && before !== null) {
    throw invalidRequest('Please provide only one of starting_after or ending_before.', 'starting_after')
  }
  const newestFirst = withinCreated(oldestFirst, query).toReversed()
  if (before !== null) {
    const upTo = newestFirst.slice(0, positionOf(newestFirst, oldestFirst, before, 'ending_before'))
    return { object: 'list', data: upTo.slice(-limit), has_more: upTo.length > limit, url }
  }
  const from = after === null ? 0 : positionOf(newestFirst, oldestFirst, after, 'starting_after') + 1
  const rest = newestFirst.slice(from)
  return { object: 'list', data: rest.slice(0, limit), has_more: rest.length > limit, url }
}

function withinCreated<T extends Listed>(items: readonly T[], query: URLSearchParams): readonly T[] {
  let within = items
  const exact = integerParameter(query, 'created')
  if (exact !== undefined) within = within.filter(item => item.created === exact)
  for (const [name, holds] of Object.entries(COMPARISONS)) {
    const bound = integerParameter(query, `created[${name}]`)
    if (bound !== undefined) within = within.filter(item => holds(item.created, bound))
  }
  return within
}

function positionOf<T extends Listed>(page: readonly T[], all: readonly T[], id: string, parameter: string): number {
  const position = page.findIndex(item => item.id === id)
  if (position >= 0) return position
  const kind = all[0]?.object ?? 'object'
  throw noSuch(kind, id, parameter)
}

function integerParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^-?\d+$/.test(text)) throw invalidRequest(`Invalid integer: ${text}`, name, 'parameter_invalid_integer')
  return Number(text)
}
