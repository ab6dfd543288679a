import { updateOne } from 'mingo/updater'
import { type AnyBulkWriteOperation, type Document, type Filter, MongoServerError, ObjectId } from 'mongodb'
import { duplicateKey } from './errors.ts'
import { aggregate, context, queryOf } from './expressions.ts'
import { matcherOf } from './filter.ts'
import type { View } from './server.ts'
import type { StoredCollection } from './stored-collection.ts'
import { copy, keyOf, stored } from './values.ts'

/** The effect of one write. */
export interface WriteEffect {
  readonly inserted: number
  readonly matched: number
  readonly modified: number
  readonly deleted: number
  readonly upsertedId?: unknown
  /** The document before and after, for findOneAndUpdate. */
  readonly before?: Document | undefined
  readonly after?: Document | undefined
}

const NOTHING: WriteEffect = { inserted: 0, matched: 0, modified: 0, deleted: 0 }

/** Options of one write, as the driver has them. */
export interface WriteOptions {
  readonly upsert?: boolean | undefined
  readonly arrayFilters?: readonly Document[] | undefined
  readonly sort?: Readonly<Record<string, 1 | -1>> | undefined
}

/** Inserts a document. @throws MongoServerError 11000 if its id or the values of a unique index exist */
export function insert(view: View, collection: StoredCollection, given: Document): WriteEffect {
  const document = stored(given._id === undefined ? { _id: new ObjectId(), ...given } : given)
  const id = keyOf(document._id)
  if (view.get(collection, id) !== undefined) throw duplicateKey(collection.name, '_id_')
  putChecked(view, collection, id, document)
  return { ...NOTHING, inserted: 1, upsertedId: document._id, after: document }
}

/** Removes the documents that match, or the first of them. */
export function remove(
  view: View,
  collection: StoredCollection,
  filter: Filter<Document>,
  isMany: boolean,
): WriteEffect {
  const found = matching(view, collection, filter).slice(0, isMany ? undefined : 1)
  for (const document of found) view.put(collection, keyOf(document._id), undefined)
  return { ...NOTHING, deleted: found.length }
}

/** Updates the first document that matches, or all, by operators or a pipeline; or replaces the first. */
export function update(
  view: View,
  collection: StoredCollection,
  filter: Filter<Document>,
  change: Document | readonly Document[],
  { isMany = false, upsert = false, arrayFilters, sort }: WriteOptions & { isMany?: boolean },
): WriteEffect {
  const all = sorted(matching(view, collection, filter), sort)
  const found = isMany ? all : all.slice(0, 1)
  if (found.length === 0) return upsert ? insertInstead(view, collection, filter, change) : NOTHING
  let modified = 0
  let after: Document | undefined
  for (const before of found) {
    after = stored(changed(before, change, arrayFilters))
    if (keyOf(after) === keyOf(before)) continue
    putChecked(view, collection, keyOf(before._id), after)
    modified += 1
  }
  return { ...NOTHING, matched: found.length, modified, before: found[0], after }
}

/** One write of a bulk. */
export function bulkOne(
  view: View,
  collection: StoredCollection,
  operation: AnyBulkWriteOperation<Document>,
): WriteEffect {
  if ('insertOne' in operation) return insert(view, collection, operation.insertOne.document as Document)
  if ('deleteOne' in operation) return remove(view, collection, operation.deleteOne.filter, false)
  if ('deleteMany' in operation) return remove(view, collection, operation.deleteMany.filter, true)
  if ('replaceOne' in operation) {
    const { filter, replacement, upsert } = operation.replaceOne
    return update(view, collection, filter, replacement, { upsert })
  }
  const isMany = 'updateMany' in operation
  const { filter, update: change, upsert, arrayFilters } = isMany ? operation.updateMany : operation.updateOne
  return update(view, collection, filter, change, { isMany, upsert, arrayFilters })
}

function matching(view: View, collection: StoredCollection, filter: Filter<Document>): Document[] {
  return view.candidates(collection, filter).filter(matcherOf(filter))
}

function sorted(documents: Document[], sort: WriteOptions['sort']): Document[] {
  return sort === undefined ? documents : aggregate(documents, [{ $sort: sort }])
}

function putChecked(view: View, collection: StoredCollection, id: string, document: Document): void {
  const index = view.refusedBy(collection, id, document)
  if (index !== undefined) throw duplicateKey(collection.name, index)
  view.put(collection, id, document)
}

function changed(
  before: Document,
  change: Document | readonly Document[],
  arrayFilters?: readonly Document[],
): Document {
  if (!Array.isArray(change) && !Object.keys(change).some(name => name.startsWith('$'))) {
    return { _id: before._id, ...copy(change) }
  }
  const after = applied(copy(before), change, true, arrayFilters)
  if (keyOf(after._id) !== keyOf(before._id)) {
    throw new MongoServerError({ code: 66, codeName: 'ImmutableField', message: 'an update changed _id' })
  }
  return after
}

function applied(
  document: Document,
  change: Document | readonly Document[],
  exists: boolean,
  arrayFilters?: readonly Document[],
): Document {
  if (Array.isArray(change)) return aggregate([document], change)[0] ?? document
  updateOne(
    [document],
    {},
    withIndexes(document, operatorsOf(change, exists), arrayFilters),
    { cloneMode: 'deep' },
    { context },
  )
  return document
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
  const filter = name.slice(2, -1)
  const matches = queryOf({
    $and: arrayFilters.filter(one => Object.keys(one).some(key => key.split('.')[0] === filter)),
  })
  const elements = Array.isArray(value) ? value : []
  return elements.flatMap((element, index) =>
    filter === '' || matches.test({ [filter]: element }) ? join(index, pathsIn(element, rest, arrayFilters)) : [],
  )
}

/** Without `$setOnInsert` for a document that exists, and with it as `$set` for a new one. */
function operatorsOf({ $setOnInsert, ...operators }: Document, exists: boolean): Document {
  if ($setOnInsert === undefined || exists) return operators
  const { _id, ...fields } = { ...operators.$set, ...$setOnInsert }
  return { ...operators, $set: fields }
}

function insertInstead(
  view: View,
  collection: StoredCollection,
  filter: Filter<Document>,
  change: Document | readonly Document[],
): WriteEffect {
  const fresh = equalities(filter)
  const isOperators = Array.isArray(change) || Object.keys(change).some(name => name.startsWith('$'))
  const id = isOperators ? (change as Document).$setOnInsert?._id : undefined
  if (id !== undefined) fresh._id = id
  const made = isOperators ? applied(fresh, change, false) : { ...fresh, ...copy(change) }
  const { upsertedId, after } = insert(view, collection, made)
  return { ...NOTHING, upsertedId, after }
}

/** The fields that a filter fixes, with which an upsert begins its document. */
function equalities(filter: Filter<Document>): Document {
  const fields: Document = {}
  for (const [name, condition] of Object.entries(filter)) {
    if (name === '$and') for (const part of condition as Filter<Document>[]) Object.assign(fields, equalities(part))
    if (name.startsWith('$')) continue
    const isOperators =
      condition !== null && typeof condition === 'object' && Object.keys(condition).some(key => key.startsWith('$'))
    if (!isOperators) fields[name] = copy(condition)
    else if ('$eq' in condition) fields[name] = copy(condition.$eq)
  }
  return fields
}
