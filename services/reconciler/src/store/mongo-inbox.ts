import type { ConnectionDocument, InboxBodyDocument, InboxDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo, writeIgnoringDuplicates } from '@backstop/kit'
import type { Filter } from 'mongodb'
import type { ConnectionReader, Inbox, InboxEntry } from './store.ts'

/** Events that are done, collections `inbox` and `inbox_bodies`. */
export function createMongoInbox(mongo: Mongo): Inbox {
  const inbox = mongo.db.collection<InboxDocument>('inbox')
  const bodies = mongo.db.collection<InboxBodyDocument>('inbox_bodies')
  async function mark(ids: readonly string[], outcome: InboxDocument['outcome'], reason: string): Promise<void> {
    if (ids.length === 0) return
    await asUnavailable(() => inbox.updateMany({ _id: { $in: [...ids] } }, { $set: { outcome, reason } }))
  }
  async function find(ids: readonly string[], which: Filter<InboxDocument>): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set()
    const filter = { _id: { $in: [...ids] }, ...which }
    const found = await asUnavailable(() => inbox.find(filter, { projection: { _id: 1 } }).toArray())
    return new Set(found.map(document => document._id))
  }
  /** Replaces the entries of dead-lettered events that arrived again. Other existing entries are kept. */
  async function replaceParked(entries: readonly InboxEntry[]): Promise<void> {
    const ids = entries.map(({ document }) => document._id)
    const parked = await find(ids, { outcome: 'parked' })
    for (const { document, body } of entries.filter(entry => parked.has(entry.document._id))) {
      const { _id, received_at } = document
      await bodies.replaceOne({ _id }, { received_at, body }, { upsert: true })
      await inbox.replaceOne({ _id, outcome: 'parked' }, document)
    }
  }
  return {
    known: ids => find(ids, {}),
    done: ids => find(ids, { outcome: { $ne: 'parked' } }),
    async insert(entries) {
      if (entries.length === 0) return
      const documents = entries.map(entry => entry.document)
      const raw = entries.map(({ document, body }) => ({ _id: document._id, received_at: document.received_at, body }))
      await asUnavailable(async () => {
        // Bodies first, because the inbox entry marks the event as done.
        await writeIgnoringDuplicates(() => bodies.insertMany(raw, { ordered: false }), raw.length)
        const there = await writeIgnoringDuplicates(
          () => inbox.insertMany(documents, { ordered: false }),
          documents.length,
        )
        if (there.length > 0) await replaceParked(there.flatMap(index => entries[index] ?? []))
      })
    },
    held: (connectionId, limit) =>
      asUnavailable(async () => {
        const query = { connection_id: connectionId, outcome: 'held' as const }
        const documents = await inbox.find(query).sort({ received_at: 1, _id: 1 }).limit(limit).toArray()
        const ids = documents.map(document => document._id)
        const raw = new Map((await bodies.find({ _id: { $in: ids } }).toArray()).map(({ _id, body }) => [_id, body]))
        return documents.map(document => ({ document, body: raw.get(document._id) ?? '{}' }))
      }),
    release: ids => mark(ids, 'hinted', 'The provider is asked'),
    hold: (ids, reason) => mark(ids, 'held', reason),
  }
}

/** Reads the connections that admin-api stores. */
export function createMongoConnections(mongo: Mongo): ConnectionReader {
  const connections = mongo.db.collection<ConnectionDocument>('connections')
  return {
    async byIds(ids) {
      if (ids.length === 0) return new Map()
      const found = await asUnavailable(() => connections.find({ _id: { $in: [...ids] } }).toArray())
      return new Map(found.map(document => [document._id, document]))
    },
    readable: () => asUnavailable(() => connections.find({ status: 'active', read_key: { $ne: null } }).toArray()),
  }
}
