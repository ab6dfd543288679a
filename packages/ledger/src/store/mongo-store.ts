import type { FirstExecutionDocument, Operation, OperationDocument } from '@backstop/contracts'
import { asUnavailable, DUPLICATE_KEY, type OutboxSource } from '@backstop/kit'
import { type Db, type Filter, MongoServerError } from 'mongodb'
import type { OperationFilter, OperationStore } from '../ledger.ts'

/** The outbox is nobody's business but the publisher's. */
const WITHOUT_OUTBOX = { outbox: 0, outbox_at: 0 } as const

/** The ledger in MongoDB: collections `operations` and `first_executions`. No other code touches either. */
export function createMongoOperationStore(db: Db): OperationStore {
  const operations = db.collection<OperationDocument>('operations')
  const firstExecutions = db.collection<FirstExecutionDocument>('first_executions')
  const find = (filter: Filter<OperationDocument>) =>
    asUnavailable(async () => {
      const found = await operations.find(filter, { projection: WITHOUT_OUTBOX }).toArray()
      return found.map(toOperation)
    })
  const findOne = (filter: Filter<OperationDocument>) =>
    asUnavailable(async () => {
      const found = await operations.findOne(filter, { projection: WITHOUT_OUTBOX })
      return found === null ? undefined : toOperation(found)
    })

  return {
    insert: (operation, entry) =>
      ignoringDuplicate(() =>
        operations.insertOne({ ...toDocument(operation), outbox: [entry], outbox_at: new Date(operation.updated_at) }),
      ),

    replace: (operation, entry) =>
      asUnavailable(async () => {
        const { _id, ...fields } = toDocument(operation)
        const { matchedCount } = await operations.updateOne(
          { _id, version: operation.version - 1 },
          {
            $set: fields,
            $push: { outbox: entry },
            // The least of both: a publisher may empty the outbox between our read and this write, and takes outbox_at with it.
            $min: { outbox_at: new Date(operation.updated_at) },
          },
        )
        return matchedCount === 1
      }),

    load: operationId => findOne({ _id: operationId }),
    loadByIdempotencyKey: (connectionId, key) => findOne({ connection_id: connectionId, idempotency_key: key }),
    byReferences: references => find({ refs: { $in: [...references] } }),

    list: filter =>
      asUnavailable(async () => {
        const found = await operations
          .find(toFilter(filter), { projection: WITHOUT_OUTBOX })
          .sort({ created_at: -1, _id: -1 })
          .limit(filter.limit)
          .toArray()
        return found.map(toOperation)
      }),

    async markExecuted(operation, now) {
      await ignoringDuplicate(() =>
        firstExecutions.insertOne({
          _id: operation.connection_id,
          project_id: operation.project_id,
          operation_id: operation.operation_id,
          at: new Date(now),
        }),
      )
    },

    executedConnections: connectionIds =>
      asUnavailable(async () => {
        const found = await firstExecutions
          .find({ _id: { $in: [...connectionIds] } }, { projection: { _id: 1 } })
          .toArray()
        return new Set(found.map(({ _id }) => _id))
      }),
  }
}

/** The outboxes of the operations, for the publisher and the sweeper. */
export function createMongoOperationOutbox(db: Db): OutboxSource {
  const operations = db.collection<OperationDocument>('operations')
  return {
    pending: (writtenBefore, limit) =>
      asUnavailable(async () => {
        const found = await operations
          .find({ outbox_at: { $lt: new Date(writtenBefore) } }, { projection: { outbox: 1 } })
          .sort({ outbox_at: 1 })
          .limit(limit)
          .toArray()
        return found.map(({ _id, outbox }) => ({ documentId: _id, entries: outbox }))
      }),

    published: documents =>
      asUnavailable(async () => {
        if (documents.length === 0) return
        const updates = documents.map(({ documentId, entryIds }) => ({
          updateOne: { filter: { _id: documentId }, update: withoutEntries(entryIds) },
        }))
        await operations.bulkWrite(updates, { ordered: false })
      }),
  }
}

/** Takes entries out, and outbox_at with the last of them: both in one step, or an entry added in between would be lost sight of. */
function withoutEntries(entryIds: readonly string[]) {
  return [
    { $set: { outbox: { $filter: { input: '$outbox', cond: { $not: [{ $in: ['$$this.id', [...entryIds]] }] } } } } },
    { $set: { outbox_at: { $cond: [{ $eq: ['$outbox', []] }, '$$REMOVE', '$outbox_at'] } } },
  ]
}

function toFilter(filter: OperationFilter): Filter<OperationDocument> {
  const { after } = filter
  return {
    ...(filter.projectId === undefined ? {} : { project_id: filter.projectId }),
    ...(filter.connectionId === undefined ? {} : { connection_id: filter.connectionId }),
    ...(filter.state === undefined ? {} : { state: filter.state }),
    ...(filter.subject === undefined ? {} : { subject: filter.subject }),
    ...(after === undefined
      ? {}
      : {
          $or: [
            { created_at: { $lt: after.createdAt } },
            { created_at: after.createdAt, _id: { $lt: after.operationId } },
          ],
        }),
  }
}

function toDocument(operation: Operation): Omit<OperationDocument, 'outbox' | 'outbox_at'> {
  const { operation_id, ...fields } = operation
  return { _id: operation_id, ...fields }
}

function toOperation(document: Omit<OperationDocument, 'outbox' | 'outbox_at'>): Operation {
  const { _id, ...fields } = document
  return { operation_id: _id, ...fields }
}

/** @returns false when a unique index refused the document */
function ignoringDuplicate(insert: () => Promise<unknown>): Promise<boolean> {
  return asUnavailable(async () => {
    try {
      await insert()
      return true
    } catch (error) {
      if (error instanceof MongoServerError && error.code === DUPLICATE_KEY) return false
      throw error
    }
  })
}
