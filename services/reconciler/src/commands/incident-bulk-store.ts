import type { ConnectionDocument, IncidentBulkDocument, IncidentDocument, StoredIncident } from '@backstop/contracts'
import { asUnavailable, type Mongo, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { Filter } from 'mongodb'

/** Changes of many incidents, and the incidents that they select. */
export interface IncidentBulkStore {
  /** Stores a new bulk change. An existing one is kept. */
  begin(bulk: IncidentBulkDocument): Promise<void>
  /** A running bulk change whose next page may be taken. */
  due(now: Date): Promise<IncidentBulkDocument | undefined>
  /** Changes fields, unless another process has changed the document. @returns the changed document */
  advance(bulk: IncidentBulkDocument, fields: Partial<IncidentBulkDocument>): Promise<IncidentBulkDocument | undefined>
  /** The next incidents of the selection after the cursor, oldest first, in any state. */
  page(bulk: IncidentBulkDocument, limit: number): Promise<StoredIncident[]>
  /** Deleted connections without a bulk change of this id. */
  deletedConnections(bulkIdOf: (connectionId: string) => string): Promise<{ id: string; projectId: string }[]>
}

/** Bulk changes of incidents, collection `incident_bulks`. */
export function createMongoIncidentBulks(mongo: Mongo): IncidentBulkStore {
  const bulks = mongo.db.collection<IncidentBulkDocument>('incident_bulks')
  const incidents = mongo.db.collection<IncidentDocument>('incidents')
  const connections = mongo.db.collection<ConnectionDocument>('connections')
  return {
    begin: bulk =>
      asUnavailable(async () => {
        await writeIgnoringDuplicates(() => bulks.insertMany([bulk], { ordered: false }), 1)
      }),
    due: now =>
      asUnavailable(async () => (await bulks.findOne({ state: 'running', next_page_at: { $lte: now } })) ?? undefined),
    advance: ({ _id, version }, fields) =>
      asUnavailable(async () => {
        const set = { $set: { ...fields, version: version + 1 } }
        return (await bulks.findOneAndUpdate({ _id, version }, set, { returnDocument: 'after' })) ?? undefined
      }),
    page: (bulk, limit) =>
      asUnavailable(async () => {
        const found = incidents.find(filterOf(bulk)).sort({ opened: 1, _id: 1 }).limit(limit)
        return (await found.toArray()).map(({ _id, opened: _opened, outbox: _outbox, ...incident }) => ({
          incident_id: _id,
          ...incident,
        }))
      }),
    deletedConnections: bulkIdOf =>
      asUnavailable(async () => {
        const deleted = await connections.find({ status: 'deleted' }, { projection: { project_id: 1 } }).toArray()
        if (deleted.length === 0) return []
        const ids = deleted.map(({ _id }) => bulkIdOf(_id))
        const known = await bulks.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray()
        const begun = new Set(known.map(({ _id }) => _id))
        return deleted
          .filter(({ _id }) => !begun.has(bulkIdOf(_id)))
          .map(({ _id, project_id }) => ({ id: _id, projectId: project_id }))
      }),
  }
}

function filterOf({ project_id, selection, cursor }: IncidentBulkDocument): Filter<IncidentDocument> {
  const { connection_id, code, from, to } = selection
  const at = cursor?.opened ?? new Date(from ?? 0)
  const later = [{ opened: { $gt: at } }, { opened: at, _id: { $gt: cursor?.incident_id ?? '' } }]
  return {
    project_id,
    // All states are named, because in the index the state comes before the date that sorts the incidents.
    state: { $in: ['open', 'acknowledged', 'resolved'] },
    opened: { $lt: new Date(to) },
    $or: later,
    ...(connection_id === undefined ? {} : { connection_id }),
    ...(code === undefined ? {} : { code }),
  } as Filter<IncidentDocument>
}
