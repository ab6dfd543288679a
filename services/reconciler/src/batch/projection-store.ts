import { isDeepStrictEqual } from 'node:util'
import {
  type ActionDocument,
  type ArchivedActionDocument,
  bucketOf,
  type IncidentDocument,
  searchKeysOfAction,
} from '@backstop/contracts'
import { asUnavailable, type Mongo, ONE_ANSWER, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { ListingState, LookResult, ProjectedAction, ProjectedIncident } from '@backstop/verdict'
import type { Collection, Filter } from 'mongodb'
import { archivableBefore } from '../archive/archived-action-store.ts'
import { countedPartOf } from '../archive/rules/counted-part.ts'
import { timeToVerdict } from '../totals/rules/count-day.ts'

export interface ProjectionStore {
  /**
   * Writes each action unless a newer version of it is stored. An archived one is listed again if something of it changed that is counted.
   * @param now milliseconds since the epoch
   */
  saveActions(actions: readonly ProjectedAction[], now: number): Promise<void>
  saveIncidents(incidents: readonly ProjectedIncident[]): Promise<void>
}

/** The actions and incidents that lists and searches show, collections `actions` and `incidents`. */
export function createMongoProjections(mongo: Mongo): ProjectionStore {
  const actions = mongo.db.collection<ActionDocument>('actions')
  const archived = mongo.db.collection<ArchivedActionDocument>('archived_actions')
  const incidents = mongo.db.collection<IncidentDocument>('incidents')
  return {
    async saveActions(list, now) {
      const before = archivableBefore(now)
      const old = list.filter(({ action }) => Date.parse(action.first_seen_at) < before)
      const kept = await findKept(old, actions, archived)
      await saveNewer(actions, list.filter(isNotIn(kept)), toActionDocument, DETAIL_FIELDS)
    },
    // An opened incident is rarely written again, so it is always treated like an update.
    saveIncidents: list => saveNewer(incidents, list, toIncidentDocument, ['actor_id']),
  }
}

function isNotIn(ids: ReadonlySet<string>) {
  return ({ action }: ProjectedAction) => !ids.has(action.action_id)
}

/** The archived actions that are not listed, and of which no counted fact changed: a repeat of their event leaves them archived. */
async function findKept(
  list: readonly ProjectedAction[],
  actions: Collection<ActionDocument>,
  archived: Collection<ArchivedActionDocument>,
): Promise<ReadonlySet<string>> {
  if (list.length === 0) return new Set()
  const documents = new Map(list.map(projected => [projected.action.action_id, toActionDocument(projected)]))
  const named = { _id: { $in: [...documents.keys()] } }
  const [found, listed] = await asUnavailable(() =>
    Promise.all([
      archived.find(named, ONE_ANSWER).toArray(),
      actions.find(named, { ...ONE_ANSWER, projection: { _id: 1 } }).toArray(),
    ]),
  )
  const listedIds = new Set(listed.map(({ _id }) => _id))
  const isSame = (known: ArchivedActionDocument) => {
    const document = documents.get(known._id)
    return (
      document?.incident_id === null &&
      isDeepStrictEqual(known, {
        ...countedPartOf(document, known.archived_at),
        version: known.version,
      })
    )
  }
  return new Set(found.filter(known => !listedIds.has(known._id) && isSame(known)).map(({ _id }) => _id))
}

/** Fields that are absent once all their facts were erased. An update must remove them. */
const DETAIL_FIELDS = [
  'origin',
  'actor_id',
  'customer',
  'payment',
  'mode',
  'links',
] as const satisfies (keyof ActionDocument)[]

function toActionDocument({ action: { action_id, ...rest }, mergedInto, lookResult }: ProjectedAction): ActionDocument {
  const verdictMs = timeToVerdict(rest)
  const document = {
    _id: action_id,
    ...rest,
    first_seen: new Date(rest.first_seen_at),
    search: searchKeysOfAction(rest),
    ...(verdictMs === undefined ? {} : { verdict_bucket: bucketOf(verdictMs) }),
    ...(lookResult === undefined ? {} : lookFields(lookResult)),
  }
  return mergedInto === null ? document : { ...document, merged_into: mergedInto }
}

function lookFields({ doneAt, connections }: LookResult) {
  return { look_done: new Date(doneAt), look_connections: connections }
}

function toIncidentDocument({ incident: { incident_id, ...rest } }: ProjectedIncident): IncidentDocument {
  return { _id: incident_id, ...rest, opened: new Date(rest.opened_at) }
}

/**
 * Writes each document unless a newer version is stored. An insert costs a sixth of an upsert, so documents that are
 * probably new are inserted, and upserted only if they exist. A query costs less than an update without effect, so
 * documents that are probably stored are queried first.
 * @param removable the fields that an update removes if the new document does not have them
 */
async function saveNewer<P extends { listing: ListingState }, T extends { _id: string; version: number }>(
  collection: Collection<T>,
  list: readonly P[],
  toDocument: (projected: P) => T,
  removable: readonly (keyof T & string)[] = [],
): Promise<void> {
  await asUnavailable(async () => {
    const of = (state: ListingState) => list.filter(({ listing }) => listing === state).map(toDocument)
    await Promise.all([
      upsertNewer(collection, of('outdated'), removable),
      insertMissing(collection, of('absent')).then(present => upsertNewer(collection, present, removable)),
      findUnlisted(collection, of('current')).then(unlisted => upsertNewer(collection, unlisted, removable)),
    ])
  })
}

/** @returns the documents that are stored already, perhaps in an older version */
async function insertMissing<T extends { _id: string }>(
  collection: Collection<T>,
  documents: readonly T[],
): Promise<readonly T[]> {
  const insert = () => collection.insertMany(documents as never, { ordered: false })
  const present = await writeIgnoringDuplicates(insert, documents.length)
  return present.flatMap(index => documents[index] ?? [])
}

async function upsertNewer<T extends { _id: string; version: number }>(
  collection: Collection<T>,
  documents: readonly T[],
  removable: readonly string[],
): Promise<void> {
  const upserts = documents.map(({ _id, ...fields }) => ({
    updateOne: {
      filter: { _id, version: { $lt: fields.version } },
      update: replacing(fields, removable),
      upsert: true,
    },
  }))
  // If a newer version is stored, the upsert tries to insert and fails with a duplicate key, so the newer version is
  // kept. It fails in the same way if another process inserts an older version at this moment: then an update replaces that one.
  const write = (updates: readonly object[]) => () => collection.bulkWrite(updates as never, { ordered: false })
  const refused = await writeIgnoringDuplicates(write(upserts), upserts.length)
  const updates = refused.flatMap(index => {
    const upsert = upserts[index]
    return upsert === undefined ? [] : [{ updateOne: { ...upsert.updateOne, upsert: false } }]
  })
  await writeIgnoringDuplicates(write(updates), updates.length)
}

function replacing(fields: object, removable: readonly string[]) {
  const removed = removable.filter(name => !(name in fields))
  if (removed.length === 0) return { $set: fields }
  return { $set: fields, $unset: Object.fromEntries(removed.map(name => [name, ''])) }
}

/** The documents that are missing, or stored in an older version. */
async function findUnlisted<T extends { _id: string; version: number }>(
  collection: Collection<T>,
  documents: readonly T[],
): Promise<readonly T[]> {
  if (documents.length === 0) return []
  const ids = documents.map(({ _id }) => _id)
  const found = collection.find({ _id: { $in: ids } } as Filter<T>, { projection: { version: 1 } })
  const listed = new Map((await found.toArray()).map(({ _id, version }) => [String(_id), version as number]))
  return documents.filter(({ _id, version }) => (listed.get(_id) ?? 0) < version)
}
