import { COLLECTIONS, type CollectionDefinition } from '@backstop/contracts'
import type { Db } from 'mongodb'

/** Creates the same indexes as the deploy job. */
export async function createIndexes(db: Db): Promise<void> {
  for (const [name, { indexes }] of Object.entries<CollectionDefinition>(COLLECTIONS)) {
    for (const { keys, options } of indexes) await db.collection(name).createIndex(keys, options)
  }
}
