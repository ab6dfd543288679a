import { type FailedRunDocument, ID_PREFIXES, type OperationDocument } from '@backstop/contracts'
import { asUnavailable } from '@backstop/kit/mongo'
import { createMongoOutboxSource, type OutboxSource, type PublishedEntries } from '@backstop/kit/outbox'
import type { Collection, Db } from 'mongodb'
import { AUDIT_TOPIC, type PendingRows, splitOutbox } from '../publish/audit-rows.ts'

/**
 * The outboxes of operations and failed runs as one source. The prefix of a document's id identifies its collection.
 */
export function createMongoLedgerOutbox(db: Db): OutboxSource {
  const operations = createOperationOutbox(db)
  const runs = createMongoOutboxSource(db.collection<FailedRunDocument>('failed_runs'))
  const isRun = ({ documentId }: PublishedEntries) => documentId.startsWith(`${ID_PREFIXES.run}_`)
  return {
    async pending(writtenBefore, limit) {
      const found = await operations.pending(writtenBefore, limit)
      const room = limit - found.length
      return room === 0 ? found : [...found, ...(await runs.pending(writtenBefore, room))]
    },
    async published(documents) {
      await operations.published(documents.filter(document => !isRun(document)))
      await runs.published(documents.filter(isRun))
    },
  }
}

function createOperationOutbox(db: Db): OutboxSource {
  const operations = db.collection<OperationDocument>('operations')
  return {
    pending: (writtenBefore, limit) =>
      asUnavailable(async () => {
        // Another service moves the audit rows.
        const filter = {
          outbox_at: { $lt: new Date(writtenBefore) },
          outbox: { $elemMatch: { topic: { $ne: AUDIT_TOPIC } } },
        }
        const found = await operations
          .find(filter, { projection: { outbox: 1 } })
          .sort({ outbox_at: 1 })
          .limit(limit)
          .toArray()
        return found.map(({ _id, outbox }) => splitOutbox({ documentId: _id, entries: outbox }).messages)
      }),

    published: documents =>
      asUnavailable(async () => {
        for (let at = 0; at < documents.length; at += EMPTIED_AT_ONCE) {
          const some = documents.slice(at, at + EMPTIED_AT_ONCE)
          if (!(await emptyOutboxes(operations, some))) await removeEntries(operations, some)
        }
      }),
  }
}

/** One statement for many documents costs MongoDB half of one for each. */
const EMPTIED_AT_ONCE = 500

/**
 * Empties the outboxes of which all entries were published, which costs MongoDB half of removing some of their entries.
 * @returns whether these were all documents
 */
async function emptyOutboxes(
  operations: Collection<OperationDocument>,
  documents: readonly PublishedEntries[],
): Promise<boolean> {
  const _id = { $in: documents.map(({ documentId }) => documentId) }
  const entryIds = documents.flatMap(document => document.entryIds)
  const isPublished = { _id, outbox: { $not: { $elemMatch: { id: { $nin: entryIds } } } } }
  const { matchedCount } = await operations.updateMany(isPublished, { $set: { outbox: [] }, $unset: { outbox_at: 1 } })
  return matchedCount === documents.length
}

/** Few, because the statement compares each entry with the ids of all documents. */
const CHANGED_AT_ONCE = 100

async function removeEntries(
  operations: Collection<OperationDocument>,
  documents: readonly PublishedEntries[],
): Promise<void> {
  for (let at = 0; at < documents.length; at += CHANGED_AT_ONCE) {
    const some = documents.slice(at, at + CHANGED_AT_ONCE)
    const _id = { $in: some.map(({ documentId }) => documentId) }
    const entryIds = some.flatMap(document => document.entryIds)
    await operations.updateMany({ _id, 'outbox.0': { $exists: true } }, withoutEntries(entryIds))
  }
}

/** The audit rows in the outboxes of operations. */
export function createMongoPendingRows(db: Db): PendingRows {
  const operations = db.collection<OperationDocument>('operations')
  return {
    pending: (writtenBefore, limit) =>
      asUnavailable(async () => {
        const filter = { outbox_at: { $lt: new Date(writtenBefore) }, 'outbox.topic': AUDIT_TOPIC }
        const options = { projection: { outbox: 1 }, sort: { outbox_at: 1 }, limit } as const
        const found = await operations.find(filter, options).toArray()
        return found.map(({ _id, outbox }) => splitOutbox({ documentId: _id, entries: outbox }).rows)
      }),
  }
}

/**
 * Removes entries, and outbox_at together with the last entry, in one step. Otherwise an entry that is added in between
 * would never be swept.
 */
function withoutEntries(entryIds: readonly string[]) {
  return [
    { $set: { outbox: { $filter: { input: '$outbox', cond: { $not: [{ $in: ['$$this.id', entryIds] }] } } } } },
    { $set: { outbox_at: { $cond: [{ $eq: ['$outbox', []] }, '$$REMOVE', '$outbox_at'] } } },
  ]
}
