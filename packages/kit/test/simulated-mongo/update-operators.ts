import { updateOne } from 'mingo/updater'
import type { Document } from 'mongodb'
import { refusedWrite } from './errors.ts'
import { aggregate, context } from './expressions.ts'
import { matcherOf } from './filter.ts'

/** An update by operators, or by a pipeline. */
export type Change = Document | readonly Document[]

/** Whether it is an update, and not a document that replaces another. */
export function isUpdate(change: Change): boolean {
  return Array.isArray(change) || Object.keys(change).some(name => name.startsWith('$'))
}

interface ApplyOptions {
  /** False for a document that an upsert makes. */
  readonly exists: boolean
  readonly arrayFilters?: readonly Document[] | undefined
}

/** The document with the update. It may change the given one. @throws MongoServerError if MongoDB refuses the update */
export function applyUpdate(document: Document, change: Change, { exists, arrayFilters }: ApplyOptions): Document {
  if (Array.isArray(change)) return aggregate([document], change)[0] ?? document
  const operators = withIndexes(document, operatorsOf(change as Document, exists), arrayFilters)
  checkOperators(document, operators)
  updateOne([document], {}, operators, { cloneMode: 'deep' }, { context })
  return document
}

/** Without `$setOnInsert` for a document that exists, and with it as `$set` for a new one. */
function operatorsOf({ $setOnInsert, ...operators }: Document, exists: boolean): Document {
  if ($setOnInsert === undefined || exists) return operators
  const { _id, ...fields } = { ...operators.$set, ...$setOnInsert }
  return { ...operators, $set: fields }
}

/** Operators whose paths name elements of arrays by their index, in place of `$[]` and of filters such as `$[held]`. */
function withIndexes(document: Document, operators: Document, arrayFilters: readonly Document[] = []): Document {
  const expanded = Object.entries(operators).map(([operator, fields]) => {
    const paths = Object.entries(fields as Document).flatMap(([path, value]) =>
      pathsIn(document, path.split('.'), arrayFilters).map(concrete => [concrete, value] as const),
    )
    return [operator, Object.fromEntries(paths)] as const
  })
  return Object.fromEntries(expanded.filter(([, fields]) => Object.keys(fields).length > 0))
}

function pathsIn(value: unknown, [name, ...rest]: readonly string[], arrayFilters: readonly Document[]): string[] {
  if (name === undefined) return ['']
  const join = (head: string | number, tails: string[]) =>
    tails.map(tail => (tail === '' ? `${head}` : `${head}.${tail}`))
  const inner = (key: string | number) => (value as Document | undefined | null)?.[key as string]
  if (!name.startsWith('$[')) return join(name, pathsIn(inner(name), rest, arrayFilters))
  if (!Array.isArray(value)) throw refusedWrite(2, 'The path must exist in the document to apply array updates')
  const filter = name.slice(2, -1)
  const matches = matcherOf({
    $and: arrayFilters.filter(conditions => Object.keys(conditions).some(key => key.split('.')[0] === filter)),
  })
  return value.flatMap((element, index) =>
    filter === '' || matches({ [filter]: element }) ? join(index, pathsIn(element, rest, arrayFilters)) : [],
  )
}

/** mingo ignores some updates that MongoDB refuses, and refuses others without the server's code. */
function checkOperators(document: Document, operators: Document): void {
  const seen = new Set<string>()
  for (const [operator, fields] of Object.entries(operators)) {
    for (const path of Object.keys(fields)) {
      if (seen.has(path)) throw refusedWrite(40, `Updating the path '${path}' would create a conflict at '${path}'`)
      seen.add(path)
      const value = valueAt(document, path, operator !== '$unset' && operator !== '$pull')
      if (path === '_id' && operator === '$set' && fields._id !== value)
        throw refusedWrite(66, "Performing an update on the path '_id' would modify the immutable field '_id'")
      if (value === undefined) continue
      const isArray = Array.isArray(value)
      if (['$push', '$addToSet', '$pull'].includes(operator) && !isArray)
        throw refusedWrite(2, `The field '${path}' must be an array`)
      if (operator === '$inc' && typeof value !== 'number')
        throw refusedWrite(14, `Cannot apply $inc to a value of non-numeric type at '${path}'`)
    }
  }
}

/** @param isCreated whether the update would create the path. @throws MongoServerError 28 if it leads through a value without fields */
function valueAt(document: Document, path: string, isCreated: boolean): unknown {
  let value: unknown = document
  for (const name of path.split('.')) {
    if (value === undefined) return undefined
    const hasField = Array.isArray(value) ? /^\d+$/.test(name) : typeof value === 'object' && value !== null
    if (!hasField) {
      if (isCreated) throw refusedWrite(28, `Cannot create field '${name}' in the path '${path}'`)
      return undefined
    }
    value = (value as Document)[name]
  }
  return value
}
