import type { IncidentDocument, IncidentOutcomeDocument, StoredIncident } from '@backstop/contracts'
import { asUnavailable, type Mongo, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import { createMongoOutboxSource, type PendingOutbox } from '@backstop/kit/outbox'
import type { IncidentChange } from '@backstop/verdict'
import type { IncidentOutcomeStore, StandaloneIncidentStore } from './store.ts'

/** Incidents without a case. They are in the collection `incidents`, like the projections of all other incidents. */
export function createMongoStandaloneIncidents(mongo: Mongo): StandaloneIncidentStore {
  const incidents = mongo.db.collection<IncidentDocument>('incidents')
  const pendingOf = async (id: string): Promise<PendingOutbox> => {
    const found = await incidents.findOne({ _id: id }, { projection: { outbox: 1 } })
    return { documentId: id, entries: found?.outbox ?? [] }
  }
  return {
    open: ({ incident, entries }) =>
      asUnavailable(async () => {
        await writeIgnoringDuplicates(
          () => incidents.insertMany([{ ...toDocument(incident), outbox: [...entries] }], { ordered: false }),
          1,
        )
        return pendingOf(incident.incident_id)
      }),
    find: id =>
      asUnavailable(async () => {
        const found = await incidents.findOne({ _id: id })
        if (found === null) return undefined
        return toStored(found)
      }),
    findAll: ids =>
      asUnavailable(async () => (await incidents.find({ _id: { $in: [...ids] } }).toArray()).map(toStored)),
    replace: ({ incident, entries }: IncidentChange) =>
      asUnavailable(async () => {
        const { _id, ...fields } = toDocument(incident)
        const { matchedCount } = await incidents.updateOne(
          { _id, version: incident.version - 1 },
          { $set: fields, $push: { outbox: { $each: [...entries] } } },
        )
        return matchedCount === 0 ? undefined : pendingOf(_id)
      }),
    pendingOf: id => asUnavailable(() => pendingOf(id)),
    outbox: createMongoOutboxSource(incidents),
  }
}

function toStored({ _id, opened: _opened, outbox: _outbox, ...incident }: IncidentDocument): StoredIncident {
  return { incident_id: _id, ...incident }
}

/** The outcomes of commands that change incidents, collection `incident_outcomes`. */
export function createMongoIncidentOutcomes(mongo: Mongo): IncidentOutcomeStore {
  const collection = mongo.db.collection<IncidentOutcomeDocument>('incident_outcomes')
  return {
    byCommands: ids => asUnavailable(() => collection.find({ _id: { $in: [...ids] } }).toArray()),
    insert: outcomes =>
      asUnavailable(async () => {
        const insert = () => collection.insertMany([...outcomes], { ordered: false })
        if (outcomes.length > 0) await writeIgnoringDuplicates(insert, outcomes.length)
      }),
  }
}

function toDocument({ incident_id, ...rest }: StoredIncident): IncidentDocument {
  return { _id: incident_id, ...rest, opened: new Date(rest.opened_at) }
}
