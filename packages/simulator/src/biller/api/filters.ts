/** The filters of the biller's lists: `name[operator]=value`. */
import { wrongValue } from '../refusal.ts'

type Test = (value: unknown) => boolean

/** The condition of each operator. */
const OPERATORS: Record<string, (wanted: string, param: string) => Test> = {
  is: wanted => value => String(value) === wanted,
  is_not: wanted => value => String(value) !== wanted,
  starts_with: wanted => value => typeof value === 'string' && value.startsWith(wanted),
  is_present: wanted => value => (value !== undefined) === (wanted === 'true'),
  in: (wanted, param) => oneOf(listIn(wanted, param)),
  not_in: (wanted, param) => {
    const isOne = oneOf(listIn(wanted, param))
    return value => !isOne(value)
  },
  on: (wanted, param) => compare(number => Math.floor(number / DAY_S) === Math.floor(numberIn(wanted, param) / DAY_S)),
  after: (wanted, param) => compare(moreThan(numberIn(wanted, param))),
  before: (wanted, param) => compare(lessThan(numberIn(wanted, param))),
  gt: (wanted, param) => compare(moreThan(numberIn(wanted, param))),
  gte: (wanted, param) => compare(moreThan(numberIn(wanted, param) - 1)),
  lt: (wanted, param) => compare(lessThan(numberIn(wanted, param))),
  lte: (wanted, param) => compare(lessThan(numberIn(wanted, param) + 1)),
  between: (wanted, param) => {
    const [from, to] = listIn(wanted, param).map(bound => numberIn(String(bound), param))
    if (from === undefined || to === undefined) throw wrongValue(param, 'invalid value')
    return compare(number => number >= from && number <= to)
  },
}

const DAY_S = 86_400
/** The parameters of a list that are no filters. */
const PAGING = new Set(['limit', 'offset', 'include_deleted', 'sort_by[asc]', 'sort_by[desc]'])

/**
 * The items that match every filter of the query. Deleted objects are omitted unless requested.
 * @param allowed the fields that this list can be filtered by
 * @throws BillerRefusal 400 for an invalid filter
 */
export function filtered<T extends object>(
  items: readonly T[],
  query: URLSearchParams,
  allowed: readonly string[],
): readonly T[] {
  const tests: { member: string; holds: Test }[] = []
  for (const [param, wanted] of query) {
    if (PAGING.has(param)) continue
    const [, member = '', operator = ''] = /^(\w+)\[(\w+)\]$/.exec(param) ?? []
    const makeTest = OPERATORS[operator]
    if (!allowed.includes(member) || makeTest === undefined) throw wrongValue(param, 'is not a parameter of this list')
    tests.push({ member, holds: makeTest(wanted, param) })
  }
  const withDeleted = query.get('include_deleted') === 'true'
  return items.filter(
    item =>
      (withDeleted || Reflect.get(item, 'deleted') !== true) &&
      tests.every(({ member, holds }) => holds(Reflect.get(item, member))),
  )
}

function oneOf(list: readonly unknown[]): Test {
  const texts = new Set(list.map(String))
  return value => texts.has(String(value))
}

function compare(holds: (number: number) => boolean): Test {
  return value => typeof value === 'number' && holds(value)
}

const moreThan = (bound: number) => (number: number) => number > bound
const lessThan = (bound: number) => (number: number) => number < bound

function numberIn(text: string, param: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw wrongValue(param, 'invalid value')
  return Number(text)
}

function listIn(text: string, param: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text)
    if (Array.isArray(list)) return list
  } catch {
    // A text that is no JSON is refused below, like every text that is not a list.
  }
  throw wrongValue(param, 'must be a list such as ["one","two"]')
}
