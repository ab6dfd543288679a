import type { Document, Filter } from 'mongodb'
import { queryOf } from './expressions.ts'
import { keyOf, valuesAt } from './values.ts'

const COMPARISONS: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  $lt: (value, bound) => value < bound,
  $lte: (value, bound) => value <= bound,
  $gt: (value, bound) => value > bound,
  $gte: (value, bound) => value >= bound,
}

type Test = (document: Document) => boolean

/** Whether the filter matches the document. */
export function matcherOf(filter: Filter<Document>): Test {
  const tests = necessaryTests(filter)
  const isById = Object.keys(filter).every(name => name === '_id') && equalTo(filter._id) !== undefined
  // A filter takes longer to compile than to test, and most documents fail a test that needs no compiling.
  let query: ReturnType<typeof queryOf> | undefined
  return document => {
    if (tests.some(test => !test(document))) return false
    if (isById) return true
    query ??= queryOf(filter)
    return query.test(document)
  }
}

/** Tests that a document passes if it matches the filter. Conditions that have none are left to the compiled filter. */
function necessaryTests(filter: Filter<Document>): Test[] {
  return Object.entries(filter).flatMap(([name, condition]): Test[] => {
    if (name === '$and') return (condition as Filter<Document>[]).flatMap(necessaryTests)
    if (name.startsWith('$')) return []
    const path = name.split('.')
    // An element by its index is not among the values at the path.
    if (path.some(part => /^\d+$/.test(part))) return []
    const allowed = equalTo(condition)
    if (allowed?.includes(null)) return []
    if (allowed !== undefined) {
      const keys = new Set(allowed.map(keyOf))
      return [document => valuesAt(document, path).some(value => keys.has(keyOf(value)))]
    }
    return comparisonTests(path, condition)
  })
}

/** For comparisons with times. Others are rare. */
function comparisonTests(path: readonly string[], condition: unknown): Test[] {
  if (!isComparison(condition)) return []
  return Object.entries(condition as object).flatMap(([operator, bound]): Test[] => {
    const compare = COMPARISONS[operator]
    if (compare === undefined || !(bound instanceof Date)) return []
    const isInRange = (value: unknown) => value instanceof Date && compare(value.getTime(), bound.getTime())
    return [document => valuesAt(document, path).some(isInRange)]
  })
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
