import { COLLECTIONS, type CollectionDefinition, type CollectionName } from '@backstop/contracts'
import type { Db, IndexDescriptionInfo } from 'mongodb'
import { asUnavailable } from '../mongo/mongo.ts'
import type { Precondition } from './preconditions.ts'

/** The server's code for a missing collection. */
const NAMESPACE_NOT_FOUND = 26

/** The indexes of a collection; undefined if the collection is missing. @throws AppError `unavailable` */
export async function readIndexes(db: Db, name: CollectionName): Promise<IndexDescriptionInfo[] | undefined> {
  try {
    return await asUnavailable(() => db.collection(name).indexes())
  } catch (error) {
    if ((error as { code?: unknown }).code === NAMESPACE_NOT_FOUND) return undefined
    throw error
  }
}

/** True if one of the indexes has these keys, and is unique if it must be. */
export function hasIndex(
  indexes: readonly IndexDescriptionInfo[],
  { keys, options }: CollectionDefinition['indexes'][number],
): boolean {
  return indexes.some(
    ({ key, unique }) => JSON.stringify(key) === JSON.stringify(keys) && (!options?.unique || unique === true),
  )
}

/**
 * Requires the unique indexes of the collections of these owners: without them, the same report or the same event is stored twice, and
 * nobody notices.
 */
export function requireUniqueIndexes(db: Db, owners: readonly CollectionDefinition['owner'][]): Precondition {
  return async () => {
    for (const [name, { owner, indexes }] of Object.entries(COLLECTIONS) as [CollectionName, CollectionDefinition][]) {
      const unique = indexes.filter(({ options }) => options?.unique)
      if (unique.length === 0 || !owners.includes(owner)) continue
      const present = (await readIndexes(db, name)) ?? []
      const missing = unique.find(index => !hasIndex(present, index))
      if (missing !== undefined) {
        return `The unique index ${JSON.stringify(missing.keys)} of ${name} is missing: run the deploy job`
      }
    }
    return undefined
  }
}
