import { type AnyBulkWriteOperation, type Document, type Filter, ObjectId } from 'mongodb'
import { sortDocuments } from './bson-order.ts'
import { duplicateKey, refusedWrite } from './errors.ts'
import { matcherOf } from './filter.ts'
import type { View } from './server.ts'
import type { StoredCollection } from './stored-collection.ts'
import { applyUpdate, type Change, isUpdate } from './update-operators.ts'
import { areEqual, copy, keyOf, stored } from './values.ts'

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
  if (view.get(collection, id) !== undefined)
    throw duplicateKey(collection.name, { index: '_id_', keyPattern: { _id: 1 }, keyValue: { _id: document._id } })
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
  change: Change,
  { isMany = false, upsert = false, arrayFilters, sort }: WriteOptions & { isMany?: boolean },
): WriteEffect {
  const all = sorted(matching(view, collection, filter), sort)
  const found = isMany ? all : all.slice(0, 1)
  if (found.length === 0) return upsert ? insertInstead(view, collection, filter, change) : NOTHING
  let modified = 0
  let after: Document | undefined
  for (const before of found) {
    after = stored(changed(before, change, arrayFilters))
    // The server writes a replacement even if it is equal.
    if (isUpdate(change) && areEqual(after, before)) continue
    putChecked(view, collection, keyOf(before._id), after, !isUpdate(change))
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
  return sort === undefined ? documents : sortDocuments(documents, sort)
}

function putChecked(
  view: View,
  collection: StoredCollection,
  id: string,
  document: Document,
  isReplacement = false,
): void {
  const duplicate = view.duplicateOf(collection, id, document)
  if (duplicate !== undefined) throw duplicateKey(collection.name, duplicate)
  view.put(collection, id, document, isReplacement)
}

function changed(before: Document, change: Change, arrayFilters?: readonly Document[]): Document {
  const after = isUpdate(change)
    ? applyUpdate(copy(before), change, { exists: true, arrayFilters })
    : { _id: before._id, ...copy(change) }
  if (keyOf(after._id) !== keyOf(before._id)) throw refusedWrite(66, "The field '_id' is immutable")
  return after
}

function insertInstead(
  view: View,
  collection: StoredCollection,
  filter: Filter<Document>,
  change: Change,
): WriteEffect {
  const fresh = equalities(filter)
  const id = (change as Document).$setOnInsert?._id
  if (id !== undefined) fresh._id = id
  const made = isUpdate(change) ? applyUpdate(fresh, change, { exists: false }) : { ...fresh, ...copy(change) }
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
