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
    saveActions: list =>
      saveNewer(
        actions,
        list.filter(({ isNew }) => isNew).map(toActionDocument),
        list.filter(({ isNew }) => !isNew).map(toActionDocument),
      ),
    // One that is opened is told, too, and then written no more for long: which of the two it is costs little.
    saveIncidents: list => saveNewer(incidents, [], list.map(toIncidentDocument)),
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
 * Writes each unless a newer version stands. An insert costs a sixth of an upsert, so what is most likely new is inserted,
 * and updated only where it was there after all.
 */
async function saveNewer<T extends { _id: string; version: number }>(
  collection: Collection<T>,
  fresh: readonly T[],
  older: readonly T[],
): Promise<void> {
  await asUnavailable(async () => {
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
