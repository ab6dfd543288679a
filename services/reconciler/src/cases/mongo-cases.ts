import {
  asUnavailable,
  duplicateIndexes,
  isDuplicateKey,
  type Mongo,
  ONE_ANSWER,
  writeIgnoringDuplicates,
} from '@backstop/kit/mongo'
import { createMongoOutboxSource } from '@backstop/kit/outbox'
import { type Case, nextErasureAt, pendingLooks, versionName } from '@backstop/verdict'
import type { AnyBulkWriteOperation, Collection, MongoBulkWriteError } from 'mongodb'
import { readState, writeState } from './case-state.ts'
import type { CaseChange, CaseStore } from './case-store.ts'

/** The stored form of a case. */
export interface CaseDocument {
  _id: string
  project_id: string
  /**
   * An array with one entry, the case. An update selects the document by its id alone, and an array filter makes it
   * change only the version that was read. The alternatives, a filter by id and version or a pipeline, take the server
   * about 50 % longer per write (docs/performance.md).
   */
  current: [StoredCase]
}

interface StoredCase extends Pick<Case, 'version' | 'refs' | 'outbox'> {
  /**
   * The versions of the operations that the case knows (`versionName`), for the search for operations that no case knows. Absent or outdated
   * if a version of Backstop without this field wrote the case last; then the search applies operations that change nothing.
   */
  operations?: readonly string[]
  /** When the earliest pending look is due to be requested again; absent if no look is pending. */
  nextLookAt?: number
  /** When personal data must be erased, or had to be; absent if there is none. */
  personalUntil?: number
  /** Token of the last `save`. A bulk write does not report which of its updates matched; the token shows it. */
  writtenBy: string
  /**
   * All other fields as JSON text. The server does not search them, and reading text takes half the time of reading
   * documents.
   */
  state: string
}

/** Cases in MongoDB, collection `subjects`. */
export function createMongoCases(mongo: Mongo, newToken: () => string): CaseStore {
  const collection = mongo.db.collection<CaseDocument>('subjects')
  const find = (filter: object, limit: number) =>
    asUnavailable(async () => (await collection.find(filter, { ...ONE_ANSWER, limit }).toArray()).map(toCase))
  return {
    load: refs => (refs.length === 0 ? Promise.resolve([]) : find({ 'current.refs': { $in: [...refs] } }, 0)),
    knownOperations: refs =>
      asUnavailable(async () => {
        if (refs.length === 0) return []
        const projection = { _id: 0, 'current.refs': 1, 'current.operations': 1 }
        const found = await collection
          .find({ 'current.refs': { $in: [...refs] } }, { ...ONE_ANSWER, projection })
          .toArray()
        return found.map(({ current: [stored] }) => ({ refs: stored.refs, operations: stored.operations ?? [] }))
      }),
    withOverdueLook: (before, limit) => find({ 'current.nextLookAt': { $lt: before } }, limit),
    async save(changes) {
      const token = newToken()
      const merges = changes.filter(change => change.replacedCases.length > 0)
      const plain = changes.filter(change => change.replacedCases.length === 0)
      const lost = plain.length === 0 ? new Set<string>() : await asUnavailable(() => saveAll(collection, plain, token))
      for (const change of merges) {
        const won = await asUnavailable(() => saveMerge(mongo, collection, change, token))
        if (!won) lost.add(change.next.id)
      }
      return lost
    },
    withExpiredPersonalData: (at, limit) => find({ 'current.personalUntil': { $lte: at } }, limit),
    page: (projectId, after, limit) =>
      asUnavailable(async () => {
        const query = { _id: { $gt: after }, project_id: projectId }
        return (await collection.find(query).sort({ _id: 1 }).limit(limit).toArray()).map(toCase)
      }),
    confirmErasure: cases =>
      asUnavailable(async () => {
        if (cases.length === 0) return
        const updates = cases.map(theCase => {
          const personalUntil = nextErasureAt(theCase)
          const change =
            personalUntil === undefined
              ? { $unset: arrayFilterFields({ personalUntil: '' }) }
              : { $set: arrayFilterFields({ personalUntil }) }
          const arrayFilters = [{ 'held.version': theCase.version }]
          return { updateOne: { filter: { _id: theCase.id }, update: change, arrayFilters } }
        })
        await collection.bulkWrite(updates as AnyBulkWriteOperation<CaseDocument>[], { ordered: false })
      }),
    outbox: createMongoOutboxSource(collection, 'current'),
  }
}

export function toCase({ _id: id, project_id: projectId, current: [stored] }: CaseDocument): Case {
  const { version, refs, outbox, state } = stored
  return { id, projectId, version, refs, outbox, ...readState(state) }
}

function toDocument({ next }: CaseChange, token: string): CaseDocument {
  const { version, refs, operations, outbox } = next
  const nextLookAt = nextLookOf(next)
  const look = nextLookAt === undefined ? {} : { nextLookAt }
  const personalUntil = nextErasureAt(next)
  const personal = personalUntil === undefined ? {} : { personalUntil }
  const stored = {
    version,
    writtenBy: token,
    refs,
    operations: operations.map(versionName),
    ...look,
    ...personal,
    outbox,
    state: writeState(next),
  }
  return { _id: next.id, project_id: next.projectId, current: [stored] }
}

function nextLookOf(theCase: Case): number | undefined {
  const looks = pendingLooks(theCase).map(look => look.wakeAt)
  return looks.length === 0 ? undefined : Math.min(...looks)
}

/**
 * Saves all changes with one command for the new cases and one for the others, at the same time: each waits until it is
 * durable.
 */
async function saveAll(
  collection: Collection<CaseDocument>,
  changes: readonly CaseChange[],
  token: string,
): Promise<Set<string>> {
  const updates = changes.filter(isUpdate)
  const inserts = changes.filter(change => !isUpdate(change))
  const lost = await Promise.all([insertAll(collection, inserts, token), updateAll(collection, updates, token)])
  return new Set(lost.flat())
}

/** A change of a stored case. */
type CaseUpdate = CaseChange & { readonly before: Case }

function isUpdate(change: CaseChange): change is CaseUpdate {
  return change.before !== undefined
}

/** @returns the ids of cases that another writer has inserted, or whose references another case has */
async function insertAll(
  collection: Collection<CaseDocument>,
  changes: readonly CaseChange[],
  token: string,
): Promise<string[]> {
  const documents = changes.map(change => toDocument(change, token))
  const insert = () => collection.insertMany(documents, { ordered: false })
  const refused = await writeIgnoringDuplicates(insert, documents.length)
  return refused.flatMap(index => documents[index]?._id ?? [])
}

/**
 * Lost updates are identified by a query, which runs only if the counts show that there are any.
 * @returns the ids of cases that another writer has changed, or that got references of another case
 */
async function updateAll(
  collection: Collection<CaseDocument>,
  changes: readonly CaseUpdate[],
  token: string,
): Promise<string[]> {
  if (changes.length === 0) return []
  const updates = changes.map(change => toUpdate(change, token))
  const result = await collection.bulkWrite(updates, { ordered: false }).catch((error: unknown) => {
    duplicateIndexes(error)
    return (error as MongoBulkWriteError).result
  })
  if (result.modifiedCount === changes.length) return []
  const ids = changes.map(change => change.next.id)
  const mine = await collection
    .find({ _id: { $in: ids }, 'current.writtenBy': token }, { projection: { _id: 1 } })
    .toArray()
  const won = new Set(mine.map(document => document._id))
  return ids.filter(id => !won.has(id))
}

function toUpdate({ next, before, added }: CaseUpdate, token: string): AnyBulkWriteOperation<CaseDocument> {
  const nextLookAt = nextLookOf(next)
  const personalUntil = nextErasureAt(next)
  const set = {
    version: next.version,
    writtenBy: token,
    state: writeState(next),
    // Decisions share unchanged parts, so the same list means no change, and the index need not be updated.
    ...(next.refs === before.refs ? {} : { refs: next.refs }),
    ...(next.operations === before.operations ? {} : { operations: next.operations.map(versionName) }),
    ...(nextLookAt === undefined ? {} : { nextLookAt }),
  }
  const update = {
    $set: arrayFilterFields(set),
    // Never later: until the eraser confirms it, the listed actions may still have data that the case has not.
    ...(personalUntil === undefined ? {} : { $min: arrayFilterFields({ personalUntil }) }),
    // Push, never replace: a concurrent publisher may already have removed entries.
    ...(added.length === 0 ? {} : { $push: arrayFilterFields({ outbox: { $each: added } }) }),
    // Always unset: an older version may have stored a look that this version does not know.
    ...(nextLookAt === undefined ? { $unset: arrayFilterFields({ nextLookAt: '' }) } : {}),
  }
  const arrayFilters = [{ 'held.version': before.version }]
  return { updateOne: { filter: { _id: next.id }, update, arrayFilters } } as AnyBulkWriteOperation<CaseDocument>
}

/** Prefixes the fields so that an update changes only the entry that matches the array filter `held`. */
function arrayFilterFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [`current.$[held].${name}`, value]))
}

/**
 * Saves a merge. It changes several documents, so it is the only write that needs a transaction. It replaces the whole
 * outbox, so entries that were published just before are published again, with the same ids.
 */
async function saveMerge(
  mongo: Mongo,
  collection: Collection<CaseDocument>,
  change: CaseChange,
  token: string,
): Promise<boolean> {
  const session = mongo.client.startSession()
  try {
    return await session.withTransaction(async () => {
      for (const { id, version } of change.replacedCases) {
        const { deletedCount } = await collection.deleteOne({ _id: id, 'current.version': version }, { session })
        if (deletedCount === 0) return abortTransaction(session)
      }
      if (change.before === undefined) {
        await collection.insertOne(toDocument(change, token), { session })
        return true
      }
      const filter = { _id: change.next.id, 'current.version': change.before.version }
      const { matchedCount } = await collection.replaceOne(filter, toDocument(change, token), { session })
      return matchedCount === 1 ? true : abortTransaction(session)
    })
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  } finally {
    await session.endSession()
  }
}

async function abortTransaction(session: { abortTransaction(): Promise<unknown> }): Promise<false> {
  await session.abortTransaction()
  return false
}
