import type { CollectionName } from '@backstop/contracts'
import { asUnavailable, isDuplicateKey } from '@backstop/kit'
import type { ClientSession, Db, Filter, MatchKeysAndValues, OptionalUnlessRequiredId } from 'mongodb'
import type { Collection, DocumentFilter, PageRequest, StoredDocument } from './collection.ts'

/**
 * A MongoDB collection.
 * @param session the transaction that all calls are part of. In a transaction, errors of the driver are thrown unchanged, because the
 * driver decides by them whether to run the transaction again.
 */
export function createMongoCollection<D extends StoredDocument>(
  db: Db,
  name: CollectionName,
  session?: ClientSession,
): Collection<D> {
  // A cast, because the driver cannot compute the type of _id of a generic document.
  const collection = db.collection<StoredDocument & Record<string, unknown>>(name)
  const options = session === undefined ? {} : { session }
  const convertErrors: typeof asUnavailable = session === undefined ? asUnavailable : call => call()
  const toDocument = (found: unknown) => (found === null ? undefined : (found as D))
  return {
    find: where => convertErrors(async () => toDocument(await collection.findOne(toFilter(where), options))),

    findAll: where =>
      convertErrors(async () => (await collection.find(toFilter(where), options).toArray()) as unknown as D[]),

    page: ({ where, by, window, after, limit }) =>
      convertErrors(async () => {
        const place =
          after === undefined ? {} : { $or: [{ [by]: { $lt: after.at } }, { [by]: after.at, _id: { $lt: after.id } }] }
        const cursor = collection
          .find({ $and: [toFilter(where), windowFilter(by, window), place] }, options)
          .sort({ [by]: -1, _id: -1 })
          .limit(limit)
        return (await cursor.toArray()) as unknown as D[]
      }),

    insert: document =>
      convertErrors(async () => {
        try {
          await collection.insertOne(
            document as OptionalUnlessRequiredId<StoredDocument & Record<string, unknown>>,
            options,
          )
          return true
        } catch (error) {
          if (isDuplicateKey(error)) return false
          throw error
        }
      }),

    put: document =>
      convertErrors(async () => {
        const { _id, ...fields } = document
        await collection.replaceOne({ _id }, fields, { ...options, upsert: true })
      }),

    change: (where, fields) =>
      convertErrors(async () => {
        const update = { $set: fields as MatchKeysAndValues<StoredDocument & Record<string, unknown>> }
        return toDocument(
          await collection.findOneAndUpdate(toFilter(where), update, { ...options, returnDocument: 'after' }),
        )
      }),

    remove: where => convertErrors(async () => void (await collection.deleteOne(toFilter(where), options))),
  }
}

function windowFilter(
  field: string,
  window: PageRequest<unknown>['window'],
): Filter<StoredDocument & Record<string, unknown>> {
  const { from, before } = window ?? {}
  const range = { ...(from === undefined ? {} : { $gte: from }), ...(before === undefined ? {} : { $lt: before }) }
  return Object.keys(range).length === 0 ? {} : { [field]: range }
}

/** Writes out $eq and $in, so that MongoDB never reads a value as an operator. */
function toFilter<D>(where: DocumentFilter<D>): Filter<StoredDocument & Record<string, unknown>> {
  const filter: Record<string, unknown> = {}
  for (const [field, wanted] of Object.entries(where)) {
    if (wanted !== undefined) filter[field] = isAnyOf(wanted) ? { $in: wanted.in } : { $eq: wanted }
  }
  return filter as Filter<StoredDocument & Record<string, unknown>>
}

function isAnyOf(wanted: unknown): wanted is { in: unknown[] } {
  return typeof wanted === 'object' && wanted !== null && Array.isArray((wanted as { in?: unknown }).in)
}
