import type { CollectionName } from '@backstop/contracts'
import {
  asUnavailable,
  isDuplicateKey,
  joinFinds,
  joinInserts,
  LIST_WITHIN_MS,
  runListQuery,
  withTypeOf,
} from '@backstop/kit/mongo'
import type {
  ClientSession,
  Db,
  Filter,
  MatchKeysAndValues,
  Collection as MongoCollection,
  OptionalUnlessRequiredId,
} from 'mongodb'
import {
  BATCH_SIZE,
  type Collection,
  type DocumentFilter,
  type PageRequest,
  type Range,
  type StoredDocument,
} from './collection.ts'

type AnyDocument = StoredDocument & Record<string, unknown>

/**
 * A MongoDB collection.
 * @param session the transaction that all calls are part of. In a transaction, errors of the driver are thrown unchanged, because the
 * driver decides by them whether to run the transaction again.
 * @param maxTimeMS limits the time of reads outside of transactions: some filters of lists have no index
 */
export function createMongoCollection<D extends StoredDocument>(
  db: Db,
  name: CollectionName,
  session?: ClientSession,
  maxTimeMS = LIST_WITHIN_MS,
): Collection<D> {
  // A cast, because the driver cannot compute the type of _id of a generic document.
  const collection = db.collection<AnyDocument>(name)
  const options = session === undefined ? {} : { session }
  const reading = session === undefined ? { maxTimeMS } : options
  const readList: typeof asUnavailable = session === undefined ? runListQuery : call => call()
  const convertErrors: typeof asUnavailable = session === undefined ? asUnavailable : call => call()
  const toDocument = (found: unknown) => (found === null ? undefined : (found as D))
  const joint = session === undefined ? createJointCommands<D>(collection, maxTimeMS) : undefined
  return {
    find: where =>
      joint?.find(where) ?? convertErrors(async () => toDocument(await collection.findOne(toFilter(where), reading))),

    findAll: where =>
      convertErrors(async () => (await collection.find(toFilter(where), reading).toArray()) as unknown as D[]),

    page: ({ where, by, oldestFirst = false, window, after, limit, maxBytes }) =>
      readList(async () => {
        const direction = oldestFirst ? 1 : -1
        const isSmall = maxBytes === undefined ? {} : { $expr: { $lte: [{ $bsonSize: '$$ROOT' }, maxBytes] } }
        const conditions = [toFilter(where), windowFilter(by, window), placeFilter(by, after, direction), isSmall]
        const found = collection.find({ $and: conditions }, reading).sort({ [by]: direction, _id: direction })
        return (await found.limit(limit).toArray()) as unknown as D[]
      }),

    async *batches(where, fields) {
      const projection = Object.fromEntries(['_id', ...fields].map(field => [field, 1]))
      const cursor = collection.find(toFilter(where), { ...reading, projection, batchSize: BATCH_SIZE })
      try {
        while (await readList(() => cursor.hasNext())) {
          yield cursor.readBufferedDocuments() as unknown as Pick<D, (typeof fields)[number] | '_id'>[]
        }
      } finally {
        await cursor.close()
      }
    },

    insert: document =>
      joint?.insert(document as unknown as AnyDocument) ??
      convertErrors(async () => {
        try {
          await collection.insertOne(document as OptionalUnlessRequiredId<AnyDocument>, options)
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

    putAll: documents =>
      convertErrors(async () => {
        if (documents.length === 0) return
        const writes = documents.map(({ _id, ...replacement }) => ({
          replaceOne: { filter: { _id }, replacement, upsert: true },
        }))
        await collection.bulkWrite(writes, { ...options, ordered: false })
      }),

    change: (where, fields) =>
      convertErrors(async () => {
        const update = { $set: fields as MatchKeysAndValues<AnyDocument> }
        const after = { ...options, returnDocument: 'after' } as const
        return toDocument(await collection.findOneAndUpdate(toFilter(where), update, after))
      }),

    remove: where => convertErrors(async () => void (await collection.deleteOne(toFilter(where), options))),
  }
}

/** Fields by which a document is found alone. */
const UNIQUE_FIELDS = ['_id', 'hash'] as const

/** Commands that concurrent requests share. A transaction has its own. */
function createJointCommands<D>(collection: MongoCollection<AnyDocument>, maxTimeMS: number) {
  const finders = UNIQUE_FIELDS.map(field =>
    joinFinds(
      (values: readonly string[]) =>
        asUnavailable(() => collection.find({ [field]: { $in: [...values] } }, { maxTimeMS }).toArray()),
      found => found[field] as string,
    ),
  )
  return {
    insert: joinInserts<AnyDocument>(collection),
    /** @returns undefined for other conditions than a value of one of the fields */
    find(where: DocumentFilter<D>): Promise<D | undefined> | undefined {
      const [condition, ...more] = Object.entries(where).filter(([, wanted]) => wanted !== undefined)
      if (condition === undefined || more.length > 0) return undefined
      const [field, wanted] = condition
      const find = finders[UNIQUE_FIELDS.indexOf(field as '_id')]
      return typeof wanted === 'string' ? (find?.(wanted) as Promise<D | undefined> | undefined) : undefined
    },
  }
}

/** Selects the documents after a place. @param direction 1 for the oldest first */
function placeFilter(by: string, after: PageRequest<unknown>['after'], direction: 1 | -1): Filter<AnyDocument> {
  if (after === undefined) return {}
  const beyond = direction === 1 ? '$gt' : '$lt'
  return { $or: [{ [by]: { [beyond]: after.at } }, { [by]: after.at, _id: { [beyond]: after.id } }] }
}

function windowFilter(field: string, window: PageRequest<unknown>['window']): Filter<AnyDocument> {
  const { from, before } = window ?? {}
  const range = { ...(from === undefined ? {} : { $gte: from }), ...(before === undefined ? {} : { $lt: before }) }
  return Object.keys(range).length === 0 ? {} : { [field]: range }
}

function conditionOf(wanted: unknown): Record<string, unknown> {
  if (isAnyOf(wanted)) return withTypeOf({ $in: wanted.in }, wanted.in)
  if (isOther(wanted)) return { $ne: wanted.not }
  if (!isRange(wanted)) return withTypeOf({ $eq: wanted }, [wanted])
  const { min, max } = wanted
  const range = { ...(min === undefined ? {} : { $gte: min }), ...(max === undefined ? {} : { $lte: max }) }
  return withTypeOf(range, Object.values(range))
}

/** Writes out $eq and $in, so that MongoDB never reads a value as an operator. */
function toFilter<D>(where: DocumentFilter<D>): Filter<AnyDocument> {
  const filter: Record<string, unknown> = {}
  for (const [field, wanted] of Object.entries(where)) {
    if (wanted === undefined) continue
    // MongoDB finds one id faster without a type.
    filter[field] = field === '_id' && typeof wanted === 'string' ? { $eq: wanted } : conditionOf(wanted)
  }
  return filter as Filter<AnyDocument>
}

/** Stored values are no plain objects with these fields, so a range cannot be confused with a value. */
export function isRange(wanted: unknown): wanted is Range<unknown> {
  return typeof wanted === 'object' && wanted !== null && ('min' in wanted || 'max' in wanted)
}

function isAnyOf(wanted: unknown): wanted is { in: unknown[] } {
  return typeof wanted === 'object' && wanted !== null && Array.isArray((wanted as { in?: unknown }).in)
}

/** Only callers in this service make such a condition: values of requests are texts and numbers, and stored values have no field `not`. */
export function isOther(wanted: unknown): wanted is { not: unknown } {
  return typeof wanted === 'object' && wanted !== null && 'not' in wanted
}
