import { type Document, MaxKey, MinKey } from 'mongodb'

/** An order by fields: 1 is ascending, -1 descending. */
export type Order = Readonly<Record<string, 1 | -1>>

/**
 * The order of values of all kinds, as MongoDB has it.
 * @returns a negative number, 0 or a positive number, as for `Array.prototype.sort`
 */
export function compareValues(a: unknown, b: unknown): number {
  const kind = kindOf(a)
  const difference = kind - kindOf(b)
  if (difference !== 0 || kind <= NULL || kind >= MAX_KEY) return difference
  if (typeof a === 'string') return compareText(a, b as string)
  if (Array.isArray(a)) return compareLists(a, b as unknown[])
  if (kind === OBJECT) return compareLists(Object.entries(a as object).flat(), Object.entries(b as object).flat())
  const [left, right] = [a, b] as [number, number]
  return left < right ? -1 : Number(left > right)
}

const [MIN_KEY, MISSING, NULL, OBJECT, MAX_KEY] = [0, 1, 2, 5, 99]

function kindOf(value: unknown): number {
  if (value === undefined) return MISSING
  if (value === null) return NULL
  if (typeof value === 'number' || typeof value === 'bigint') return 3
  if (typeof value === 'string') return 4
  if (typeof value === 'boolean') return 9
  if (Array.isArray(value)) return 6
  if (value instanceof Date) return 10
  const { _bsontype: type } = value as { _bsontype?: string }
  if (type === 'MinKey') return MIN_KEY
  if (type === 'MaxKey') return MAX_KEY
  if (type === 'Binary') return 7
  if (type === 'ObjectId') return 8
  return type === undefined ? OBJECT : 3
}

/** By code points, as UTF-8 sorts. JavaScript compares halves of surrogate pairs. */
function compareText(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1
  const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)]
  if (at === a.length || at === b.length) return a.length - b.length
  const isPair = (unit: number) => unit >= 0xd800 && unit <= 0xdfff
  return isPair(left) === isPair(right) ? left - right : isPair(left) ? 1 : -1
}

function compareLists(a: readonly unknown[], b: readonly unknown[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const difference = compareValues(a[at], b[at])
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** The documents in an order. Of an array, the lowest element counts in an ascending order and the highest in a descending one. */
export function sortDocuments(documents: readonly Document[], order: Order): Document[] {
  const fields = Object.entries(order).map(([field, direction]) => ({ path: field.split('.'), direction }))
  const keyed = documents.map(document => ({
    document,
    keys: fields.map(
      ({ path, direction }) => keysAt(document, path).toSorted((a, b) => direction * compareValues(a, b))[0],
    ),
  }))
  return keyed.sort((a, b) => compareKeys(a.keys, b.keys, fields)).map(({ document }) => document)
}

function compareKeys(
  a: readonly unknown[],
  b: readonly unknown[],
  fields: readonly { readonly direction: 1 | -1 }[],
): number {
  for (const [at, { direction }] of fields.entries()) {
    const difference = direction * compareValues(a[at], b[at])
    if (difference !== 0) return difference
  }
  return 0
}

/** The values at a path as an index has them: null for a missing field, undefined for an empty array. */
export function keysAt(value: unknown, [name, ...rest]: readonly string[]): readonly unknown[] {
  if (name === undefined) {
    if (!Array.isArray(value)) return [value ?? null]
    return value.length === 0 ? [undefined] : value
  }
  if (Array.isArray(value))
    return value.length === 0 ? [null] : value.flatMap(element => keysAt(element, [name, ...rest]))
  if (value === null || typeof value !== 'object') return [null]
  return keysAt((value as Document)[name], rest)
}

/**
 * The parts of an index that a query with `$or` reads, one after the other. A branch names fields of the index by a value, or by `$elemMatch` with
 * `$gt` or `$gte`, and `$lt`. Undefined for other queries.
 */
export function boundsOfBranches(filter: Document, order: Order): IndexBounds[] | undefined {
  const branches = filter.$or as Document[] | undefined
  return branches?.map(branch => {
    const beginsAfter = Object.values(branch).some(condition => condition.$elemMatch?.$gt !== undefined)
    const bounds = (of: (range: Document) => unknown, isLast: boolean) =>
      Object.fromEntries(
        Object.entries(order).map(([field, direction]) => {
          const condition = branch[field]
          if (condition?.$elemMatch !== undefined) return [field, of(condition.$elemMatch)]
          if (typeof condition === 'string') return [field, condition]
          return [field, isLast === (direction === 1) ? new MaxKey() : new MinKey()]
        }),
      )
    return { min: bounds(({ $gt, $gte }) => $gt ?? $gte, beginsAfter), max: bounds(({ $lt }) => $lt, false) }
  })
}

/** Bounds of an index: from `min` on, and before `max`. */
export interface IndexBounds {
  readonly min?: Readonly<Document> | undefined
  readonly max?: Readonly<Document> | undefined
}

/** The documents with an entry of an index within the bounds, in the order of their first entries. */
export function documentsByIndex(documents: readonly Document[], order: Order, { min, max }: IndexBounds): Document[] {
  const fields = Object.entries(order).map(([name, direction]) => ({ name, path: name.split('.'), direction }))
  const [from, to] = [min, max].map(bound => bound && fields.map(({ name }) => bound[name]))
  const entries = documents.flatMap(document => {
    let keys: unknown[][] = [[]]
    for (const { path } of fields) keys = keys.flatMap(key => keysAt(document, path).map(value => [...key, value]))
    const within = keys.filter(
      key =>
        (from === undefined || compareKeys(key, from, fields) >= 0) &&
        (to === undefined || compareKeys(key, to, fields) < 0),
    )
    const [first] = within.sort((a, b) => compareKeys(a, b, fields))
    return first === undefined ? [] : [{ document, keys: first }]
  })
  return entries.sort((a, b) => compareKeys(a.keys, b.keys, fields)).map(({ document }) => document)
}
