import type { Document, Filter } from 'mongodb'
import { queryOf } from './expressions.ts'
import { keyOf, valuesAt } from './values.ts'

type Test = (document: Document) => boolean

/** Tests that every matching document passes. If they are complete, no other document passes them. */
interface Tests {
  readonly all: readonly Test[]
  readonly isComplete: boolean
}

const UNKNOWN: Tests = { all: [], isComplete: false }
const complete = (...all: Test[]): Tests => ({ all, isComplete: true })

/** Whether the filter matches the document. */
export function matcherOf(filter: Filter<Document>): Test {
  const tests = testsOf(filter)
  if (tests.isComplete) return document => passes(tests, document)
  // A filter takes longer to compile than to test, and most documents fail a test that needs no compiling.
  let query: ReturnType<typeof queryOf> | undefined
  return document => {
    if (!passes(tests, document)) return false
    query ??= queryOf(filter)
    return query.test(document)
  }
}

function passes({ all }: Tests, document: Document): boolean {
  return all.every(test => test(document))
}

function allOf(parts: readonly Tests[]): Tests {
  return { all: parts.flatMap(({ all }) => all), isComplete: parts.every(({ isComplete }) => isComplete) }
}

function testsOf(filter: Filter<Document>): Tests {
  return allOf(
    Object.entries(filter).map(([name, condition]): Tests => {
      const parts = () => (condition as Filter<Document>[]).map(testsOf)
      if (name === '$and') return allOf(parts())
      if (name === '$or') return anyOf(parts())
      return name.startsWith('$') ? UNKNOWN : testsAt(name.split('.'), condition)
    }),
  )
}

function anyOf(parts: readonly Tests[]): Tests {
  const any: Test = document => parts.some(part => passes(part, document))
  return { all: [any], isComplete: parts.every(({ isComplete }) => isComplete) }
}

/** The tests of one condition on the values at a path. */
function testsAt(path: readonly string[], condition: unknown): Tests {
  // An element by its index is not among the values at the path.
  if (path.some(part => /^\d+$/.test(part))) return UNKNOWN
  if (!isOperators(condition)) return equal(path, equalTo(condition))
  return allOf(Object.entries(condition).map(([operator, operand]) => operatorTests(path, operator, operand)))
}

function isOperators(condition: unknown): condition is Document {
  return condition?.constructor === Object && Object.keys(condition).some(name => name.startsWith('$'))
}

function operatorTests(path: readonly string[], operator: string, operand: unknown): Tests {
  const compare = COMPARISONS[operator]
  if (compare !== undefined) return comparison(path, operand, compare)
  switch (operator) {
    case '$eq':
    case '$in':
      return equal(path, equalTo({ [operator]: operand }))
    case '$ne':
      return not(equal(path, equalTo({ $eq: operand })))
    case '$nin':
      return not(equal(path, equalTo({ $in: operand as unknown[] })))
    case '$type':
      return hasKind(path, operand)
    case '$exists':
      return path.length > 1
        ? UNKNOWN
        : complete(document => (document[path[0] ?? ''] !== undefined) === Boolean(operand))
    case '$not':
      return isOperators(operand) ? not(testsAt(path, operand)) : UNKNOWN
    default:
      return UNKNOWN
  }
}

function not(tests: Tests): Tests {
  return tests.isComplete ? complete(document => !passes(tests, document)) : UNKNOWN
}

function equal(path: readonly string[], allowed: readonly unknown[] | undefined): Tests {
  if (allowed === undefined) return UNKNOWN
  const keys = new Set(allowed.map(keyOf))
  const isAmong = (value: unknown) => keys.has(keyOf(value))
  const hasNull = allowed.includes(null)
  return complete(document => valuesAt(document, path).some(isAmong) || (hasNull && lacks(document, path)))
}

/** Whether a document, or one of those in an array on the way, lacks the field, which is then equal to null. */
function lacks(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return value === undefined
  if (Array.isArray(value)) return value.some(element => isDocument(element) && lacks(element, [name, ...rest]))
  return !isDocument(value) || lacks(value[name], rest)
}

function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: value => typeof value === 'string',
  number: value => typeof value === 'number',
  date: value => value instanceof Date,
}

function hasKind(path: readonly string[], kind: unknown): Tests {
  const isKind = KINDS[String(kind)]
  return isKind === undefined ? UNKNOWN : complete(document => valuesAt(document, path).some(isKind))
}

const COMPARISONS: Readonly<Record<string, (difference: number) => boolean>> = {
  $lt: difference => difference < 0,
  $lte: difference => difference <= 0,
  $gt: difference => difference > 0,
  $gte: difference => difference >= 0,
}

/** A bound is compared with values of its own kind only. */
function comparison(path: readonly string[], bound: unknown, compare: (difference: number) => boolean): Tests {
  if (typeof bound === 'number') return inRange(value => typeof value === 'number' && compare(value - bound))
  if (typeof bound === 'string')
    return inRange(value => typeof value === 'string' && compare(value < bound ? -1 : value > bound ? 1 : 0))
  if (bound instanceof Date) return inRange(value => value instanceof Date && compare(+value - +bound))
  return UNKNOWN

  function inRange(isInRange: (value: unknown) => boolean): Tests {
    return complete(document => valuesAt(document, path).some(isInRange))
  }
}

/** Whether a condition compares, so that a document without the field never matches. */
export function isComparison(condition: unknown): boolean {
  return condition !== null && typeof condition === 'object' && Object.keys(condition).some(name => name in COMPARISONS)
}

/** The values that a condition allows, if it allows single values only. */
export function equalTo(condition: unknown): readonly unknown[] | undefined {
  if (condition === undefined || condition instanceof RegExp || Array.isArray(condition)) return undefined
  if (condition === null || typeof condition !== 'object' || condition instanceof Date) return [condition]
  const { $in, $eq } = condition as { $in?: unknown[]; $eq?: unknown }
  if ($in !== undefined) return $in.some(value => value instanceof RegExp || Array.isArray(value)) ? undefined : $in
  if ($eq !== undefined) return Array.isArray($eq) ? undefined : [$eq]
  return Object.keys(condition).some(name => name.startsWith('$')) ? undefined : [condition]
}
