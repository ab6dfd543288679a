import type { InboxBodyDocument, InboxDocument, InboxReplayDocument, InboxSelection } from '@backstop/contracts'
import { asUnavailable, isDuplicateKey, type Mongo } from '@backstop/kit/mongo'
import type { Filter } from 'mongodb'
import type { InboxEntry } from '../inbox/inbox-store.ts'

/** The only writer of `inbox_replays`. */
export interface InboxReplayStore {
  count(projectId: string, selection: InboxSelection): Promise<number>
  /** @returns true if the replay is new; an existing replay is unchanged */
  begin(replay: InboxReplayDocument): Promise<boolean>
  /**
   * Claims a running replay whose next page is due, and sets the next due time to `untilMs`, so that no other process
   * claims it meanwhile.
   */
  claim(nowMs: number, untilMs: number): Promise<InboxReplayDocument | undefined>
  /** The next selected entries after the replay's cursor, oldest first. The body is null if it is not kept any more. */
  page(replay: InboxReplayDocument, limit: number): Promise<InboxEntry[]>
  /** Records the progress of a replay, unless its cursor has changed since it was read. */
  advance(replay: InboxReplayDocument, progress: InboxReplayProgress): Promise<void>
}

export type InboxReplayProgress = Pick<
  InboxReplayDocument,
  'state' | 'replayed' | 'skipped_erased' | 'skipped_objects' | 'cursor' | 'next_page_at' | 'finished_at'
>

export function createMongoInboxReplays({ db }: Mongo): InboxReplayStore {
  const replays = db.collection<InboxReplayDocument>('inbox_replays')
  const inbox = db.collection<InboxDocument>('inbox')
  const bodies = db.collection<InboxBodyDocument>('inbox_bodies')
  return {
    count: (projectId, selection) => asUnavailable(() => inbox.countDocuments(selected(projectId, selection))),
    begin: replay =>
      asUnavailable(async () => {
        try {
          await replays.insertOne(replay)
          return true
        } catch (error) {
          if (isDuplicateKey(error)) return false
          throw error
        }
      }),
    claim: (nowMs, untilMs) =>
      asUnavailable(async () => {
        const claimed = await replays.findOneAndUpdate(
          { state: 'running', next_page_at: { $lte: new Date(nowMs) } },
          { $set: { next_page_at: new Date(untilMs) } },
          { sort: { next_page_at: 1 }, returnDocument: 'after' },
        )
        return claimed ?? undefined
      }),
    page: (replay, limit) =>
      asUnavailable(async () => {
        const query = { $and: [selected(replay.project_id, replay), afterCursor(replay.cursor)] }
        const documents = await inbox.find(query).sort({ received_at: 1, _id: 1 }).limit(limit).toArray()
        const ids = documents.map(document => document._id)
        const kept = new Map((await bodies.find({ _id: { $in: ids } }).toArray()).map(({ _id, body }) => [_id, body]))
        return documents.map(document => ({ document, body: kept.get(document._id) ?? null }))
      }),
    async advance({ _id, cursor }, progress) {
      await asUnavailable(() => replays.updateOne({ _id, state: 'running', cursor }, { $set: progress }))
    },
  }
}

function selected(
  projectId: string,
  { connection_id, event_ids, from, to, outcome }: InboxSelection,
): Filter<InboxDocument> {
  return {
    project_id: projectId,
    connection_id,
    ...(event_ids === null ? {} : { _id: { $in: event_ids.map(id => `${connection_id}/${id}`) } }),
    ...(from === null || to === null ? {} : { received_at: { $gte: from, $lt: to } }),
    ...(outcome === null ? {} : { outcome }),
  }
}

function afterCursor(cursor: InboxReplayDocument['cursor']): Filter<InboxDocument> {
  if (cursor === null) return {}
  const { received_at, inbox_id } = cursor
  return { $or: [{ received_at: { $gt: received_at } }, { received_at, _id: { $gt: inbox_id } }] }
}
