import type { IncidentDocument, StoredIncident } from '@backstop/contracts'
import { asUnavailable, type Mongo, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { OutboxSource } from '@backstop/kit/outbox'
import { createMongoOutboxSource, type PendingOutbox } from '@backstop/kit/outbox'
import type { IncidentChange } from '@backstop/verdict'

/** Incidents that are about no action, and so belong to no case. Their document is the only source. */
export interface StandaloneIncidentStore {
  /**
   * Inserts the incident with its messages. An existing incident is kept.
   * @returns the messages to publish
   */
  open(change: IncidentChange): Promise<PendingOutbox>
  find(incidentId: string): Promise<StoredIncident | undefined>
  /** The incidents with these ids, those of actions included. */
  findAll(incidentIds: readonly string[]): Promise<StoredIncident[]>
  /**
   * Writes the next version and adds its messages, unless another writer has changed the incident.
   * @returns the messages to publish; undefined if another writer has changed it
   */
  replace(change: IncidentChange): Promise<PendingOutbox | undefined>
  /** The messages to publish; empty for an unknown incident. */
  pendingOf(incidentId: string): Promise<PendingOutbox>
  readonly outbox: OutboxSource
}

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

function toDocument({ incident_id, ...rest }: StoredIncident): IncidentDocument {
  return { _id: incident_id, ...rest, opened: new Date(rest.opened_at) }
}
