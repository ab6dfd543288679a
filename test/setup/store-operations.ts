import { type Operation, type OperationDocument, searchKeysOfOperation } from '@backstop/contracts'
import { writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { Db } from 'mongodb'

/** The number of operations in one write. */
const STORE_AT_ONCE = 1_000

/**
 * Stores operations like the ledger, but many at once, and publishes nothing. A repeat changes nothing. It does not wait until they are durable,
 * because the cost of reports is not what its callers measure.
 */
export async function storeOperations(database: Db, operations: readonly Operation[]): Promise<void> {
  const ledger = database.collection<OperationDocument>('operations')
  for (let at = 0; at < operations.length; at += STORE_AT_ONCE) {
    const documents = operations.slice(at, at + STORE_AT_ONCE).map(operation => {
      const { operation_id: _id, ...fields } = operation
      return { _id, ...fields, search: searchKeysOfOperation(operation), outbox: [] }
    })
    const insert = () => ledger.insertMany(documents, { ordered: false, writeConcern: { w: 1 } })
    await writeIgnoringDuplicates(insert, documents.length)
  }
}
