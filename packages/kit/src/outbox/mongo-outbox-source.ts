import type { TimedOutboxEntry } from '@backstop/contracts'
import type { AnyBulkWriteOperation, Collection, Filter } from 'mongodb'
import { asUnavailable } from '../mongo/mongo.ts'
import type { OutboxSource } from './outbox-publisher.ts'

/** A document with an outbox; the collection has a sparse index on `outbox.at`. */
export interface OutboxHolder {
  _id: string
  outbox?: readonly TimedOutboxEntry[]
}

/** The outboxes of one collection, as the publisher and its sweeper use them. */
export function createMongoOutboxSource<T extends OutboxHolder>(collection: Collection<T>): OutboxSource {
  return {
    pending: (writtenBefore, limit) =>
      asUnavailable(async () => {
        const filter = { 'outbox.at': { $lt: writtenBefore } } as unknown as Filter<T>
        const found = collection.find<OutboxHolder>(filter, { projection: { outbox: 1 } })
        const documents = await found.limit(limit).toArray()
        return documents.map(({ _id, outbox }) => ({ documentId: _id, entries: outbox ?? [] }))
      }),
    async published(documents) {
      if (documents.length === 0) return
      const updates = documents.map(({ documentId, entryIds }) => ({
        updateOne: { filter: { _id: documentId }, update: { $pull: { outbox: { id: { $in: [...entryIds] } } } } },
      }))
      // The driver's type of $pull does not know readonly arrays.
      const writes = updates as unknown as AnyBulkWriteOperation<T>[]
      await asUnavailable(() => collection.bulkWrite(writes, { ordered: false }))
    },
  }
}
