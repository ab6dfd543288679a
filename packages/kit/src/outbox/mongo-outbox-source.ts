import type { TimedOutboxEntry } from '@backstop/contracts'
import type { AnyBulkWriteOperation, Collection, Document, Filter } from 'mongodb'
import { asUnavailable } from '../mongo/mongo.ts'
import type { OutboxSource } from './outbox-publisher.ts'

/** A document with an outbox, or the only array element that has one. */
export interface OutboxHolder {
  outbox?: readonly TimedOutboxEntry[]
}

/**
 * The outboxes of one collection, for the publisher and its sweeper. The collection has a sparse index on `outbox.at`,
 * or on `<within>.outbox.at`.
 * @param within the name of the single-element array whose element contains the outbox; not set if the document itself
 * contains it
 */
export function createMongoOutboxSource<T extends Document & { _id: string }>(
  collection: Collection<T>,
  within?: keyof T & string,
): OutboxSource {
  const [found, updated] = within === undefined ? ['outbox', 'outbox'] : [`${within}.outbox`, `${within}.$[].outbox`]
  const holderIn = (document: Document): OutboxHolder => (within === undefined ? document : document[within][0])
  return {
    pending: (writtenBefore, limit) =>
      asUnavailable(async () => {
        const filter = { [`${found}.at`]: { $lt: writtenBefore } } as Filter<T>
        const documents = await collection
          .find(filter, { projection: { [found]: 1 } })
          .limit(limit)
          .toArray()
        return documents.map(document => ({
          documentId: String(document._id),
          entries: holderIn(document).outbox ?? [],
        }))
      }),
    async published(documents) {
      if (documents.length === 0) return
      const updates = documents.map(({ documentId, entryIds }) => ({
        updateOne: { filter: { _id: documentId }, update: { $pull: { [updated]: { id: { $in: [...entryIds] } } } } },
      }))
      // The driver's type of $pull does not accept readonly arrays.
      const writes = updates as unknown as AnyBulkWriteOperation<T>[]
      await asUnavailable(() => collection.bulkWrite(writes, { ordered: false }))
    },
  }
}
