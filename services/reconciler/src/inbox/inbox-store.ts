import type { InboxBodyDocument, InboxDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo, ONE_ANSWER, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { Collection, Filter } from 'mongodb'
import { type BodyEraser, createBodyEraser } from './body-eraser.ts'

export interface InboxEntry {
  readonly document: InboxDocument
  /** JSON text; null if it is not kept. */
  readonly body: string | null
  /** True if `keepBodies` has stored the body. */
  readonly isBodyKept?: true
}

export interface Inbox extends BodyEraser {
  /** The ids that have an entry, with any outcome. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** When the newest notification of these types arrived since a time, in milliseconds since the epoch; null if none has. */
  newestOf(connectionId: string, types: readonly string[], since: number): Promise<number | null>
  /** The ids that are done. A dead-lettered event is not done, because it may be usable when it is sent again. */
  done(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Stores bodies of events that are not decided yet. An event is done when its entry is inserted. */
  keepBodies(documents: readonly InboxBodyDocument[]): Promise<void>
  /** Marks events as done. An existing entry is kept, unless its event was dead-lettered. */
  insert(entries: readonly InboxEntry[]): Promise<void>
  /**
   * Records the outcomes of replayed events. Their actions are added to those of the entry. A replayed event that cannot
   * be used changes only an entry that is dead-lettered.
   */
  decideAgain(documents: readonly InboxDocument[]): Promise<void>
  /**
   * Hints that wait until the connection is readable, oldest first. Hints whose body is no longer kept are left out.
   */
  held(connectionId: string, limit: number): Promise<InboxEntry[]>
  release(ids: readonly string[]): Promise<void>
  /** Marks hints that could not be verified as held, with the reason. */
  hold(ids: readonly string[], reason: string): Promise<void>
}

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
    const found = await asUnavailable(() => inbox.find(filter, { ...ONE_ANSWER, projection: { _id: 1 } }).toArray())
    return new Set(found.map(document => document._id))
  }
  async function insertBodies(documents: readonly InboxBodyDocument[]): Promise<void> {
    await writeIgnoringDuplicates(() => bodies.insertMany(documents, { ordered: false }), documents.length)
  }
  /** Replaces the entries of dead-lettered events that arrived again. Other existing entries are kept. */
  async function replaceParked(entries: readonly InboxEntry[]): Promise<void> {
    const ids = entries.map(({ document }) => document._id)
    const parked = await find(ids, { outcome: 'parked' })
    for (const { document, body } of entries.filter(entry => parked.has(entry.document._id))) {
      const { _id, received_at } = document
      if (body !== null) await bodies.replaceOne({ _id }, { received_at, body }, { upsert: true })
      await inbox.replaceOne({ _id, outcome: 'parked' }, document)
    }
  }
  return {
    known: ids => find(ids, {}),
    newestOf: (...which) => asUnavailable(() => findNewest(inbox, ...which)),
    done: ids => find(ids, { outcome: { $ne: 'parked' } }),
    keepBodies: documents => asUnavailable(() => insertBodies(documents)),
    async insert(entries) {
      if (entries.length === 0) return
      const documents = entries.map(entry => entry.document)
      await asUnavailable(async () => {
        // Bodies first, because the inbox entry marks the event as done.
        await insertBodies(
          entries.flatMap(({ document: { _id, received_at }, body, isBodyKept = false }) =>
            body === null || isBodyKept ? [] : [{ _id, received_at, body }],
          ),
        )
        const present = await writeIgnoringDuplicates(
          () => inbox.insertMany(documents, { ordered: false }),
          documents.length,
        )
        if (present.length > 0) await replaceParked(present.flatMap(index => entries[index] ?? []))
      })
    },
    decideAgain: documents =>
      asUnavailable(async () => {
        if (documents.length === 0) return
        const updates = documents.map(({ _id, outcome, reason, action_ids, processed_at, replay_id }) => ({
          updateOne: {
            filter: { _id, ...(outcome === 'parked' ? { outcome } : {}) },
            update: {
              $set: { outcome, reason, processed_at, ...(replay_id === undefined ? {} : { replay_id }) },
              $addToSet: { action_ids: { $each: action_ids } },
            },
          },
        }))
        await inbox.bulkWrite(updates, { ordered: false })
      }),
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
    ...createBodyEraser(mongo),
  }
}

async function findNewest(
  inbox: Collection<InboxDocument>,
  ...[connection_id, types, since]: Parameters<Inbox['newestOf']>
): Promise<number | null> {
  const which = { connection_id, event_type: { $in: [...types] }, received_at: { $gte: new Date(since) } }
  const newest = await inbox.findOne(which, { sort: { received_at: -1 }, projection: { received_at: 1 } })
  return newest?.received_at.getTime() ?? null
}
