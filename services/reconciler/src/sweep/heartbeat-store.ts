import { HEARTBEAT, type InboxBodyDocument, type InboxDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'
import type { CaseDocument } from '../cases/mongo-cases.ts'

/** What is stored of heartbeats. Nobody reads it later. */
export interface HeartbeatStore {
  /** Removes the cases that are finished, and the inbox entries received before this time. @returns the number of removed cases */
  removeFinished(receivedBefore: Date): Promise<number>
}

/** More than one removal at once never has, unless removals failed for a day. */
const MAX_ENTRIES = 2_000

export function createMongoHeartbeats({ db }: Mongo): HeartbeatStore {
  const cases = db.collection<CaseDocument>('subjects')
  const inbox = db.collection<InboxDocument>('inbox')
  const bodies = db.collection<InboxBodyDocument>('inbox_bodies')
  return {
    removeFinished: receivedBefore =>
      asUnavailable(async () => {
        const isFinished = { $elemMatch: { nextLookAt: { $exists: false }, outbox: { $size: 0 } } }
        const filter = { project_id: HEARTBEAT.projectId, current: isFinished }
        const { deletedCount } = await cases.deleteMany(filter as object)
        const old = await inbox
          .find({ connection_id: HEARTBEAT.connectionId, received_at: { $lt: receivedBefore } })
          .project<{ _id: string }>({ _id: 1 })
          .limit(MAX_ENTRIES)
          .toArray()
        const ids = old.map(({ _id }) => _id)
        if (ids.length > 0) {
          await bodies.deleteMany({ _id: { $in: ids } })
          await inbox.deleteMany({ _id: { $in: ids } })
        }
        return deletedCount
      }),
  }
}
