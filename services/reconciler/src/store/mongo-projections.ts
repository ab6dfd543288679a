import type { ActionDocument, Incident, IncidentDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo, onlyDuplicates } from '@backstop/kit'
import type { Collection } from 'mongodb'
import type { ProjectedAction } from '../domain/projection.ts'
import type { ProjectionStore } from './store.ts'

/** Actions and incidents as lists and searches read them, collections `actions` and `incidents`. */
export function createMongoProjections(mongo: Mongo): ProjectionStore {
  const actions = mongo.db.collection<ActionDocument>('actions')
  const incidents = mongo.db.collection<IncidentDocument>('incidents')
  return {
    saveActions: list => saveNewer(actions, list.map(toActionDocument)),
    saveIncidents: list => saveNewer(incidents, list.map(toIncidentDocument)),
  }
}

function toActionDocument({ action: { action_id, ...rest }, mergedInto }: ProjectedAction): ActionDocument {
  const document = { _id: action_id, ...rest, first_seen: new Date(rest.first_seen_at) }
  return mergedInto === null ? document : { ...document, merged_into: mergedInto }
}

function toIncidentDocument({ incident_id, ...rest }: Incident): IncidentDocument {
  return { _id: incident_id, ...rest, opened: new Date(rest.opened_at) }
}

/**
 * Most projections are of new subjects, and an insert costs a sixth of an upsert (guides: infra.md §2): all are inserted
 * first, and only those that were there are updated, each unless a newer version stands.
 */
async function saveNewer<T extends { _id: string; version: number }>(
  collection: Collection<T>,
  documents: readonly T[],
): Promise<void> {
  if (documents.length === 0) return
  await asUnavailable(async () => {
    const fresh = documents.filter(document => document.version === 1)
    const older = documents.filter(document => document.version > 1)
    const present = await onlyDuplicates(() => collection.insertMany(fresh as never, { ordered: false }), fresh.length)
    const rest = [...older, ...present.flatMap(index => fresh[index] ?? [])]
    if (rest.length === 0) return
    const upserts = rest.map(({ _id, ...fields }) => ({
      updateOne: { filter: { _id, version: { $lt: fields.version } }, update: { $set: fields }, upsert: true },
    }))
    // An upsert that finds a newer version tries to insert beside it and is refused: that is how the newer one stays.
    await onlyDuplicates(() => collection.bulkWrite(upserts as never, { ordered: false }), upserts.length)
  })
}
